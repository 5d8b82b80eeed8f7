#include <catch2/catch.hpp>
#include <cstdlib>

#include "agents/hub/jinja/template.h"
#include "core/error.h"
#include "core/text.h"
#include "paths.h"

using agon::Json;
using namespace agon::agents::jinja;
using Catch::Matchers::Contains;

namespace {

Variables variables_of(const Json& json) {
  Variables variables;
  for (const auto& [name, value] : json.items()) variables.emplace_back(name, Value::from_json(value, kGiven));
  return variables;
}

// The rendered text, or null if the template fails, as in the golden files.
Json rendered(const std::string& jinja, const Variables& variables) try {
  return std::string(JinjaTemplate::parse(jinja, "golden").render(variables).view());
} catch (const agon::Error& error) {
  CHECK_THAT(error.what(), Contains("chat template golden, line "));
  return nullptr;
}

void check_chats(const Json& file) {
  std::vector<Variables> conversations;
  for (const Json& conversation : file["conversations"]) conversations.push_back(variables_of(conversation));
  for (const Json& chat : file["templates"])
    for (std::size_t i = 0; i < conversations.size(); ++i) {
      INFO(chat["name"] << ", conversation " << i << ": " << file["conversations"][i]);
      CHECK(rendered(chat["jinja"], conversations[i]) == chat["texts"][i]);
    }
}

std::string render(const std::string& jinja, const Variables& variables = {}, const TemplateLimits& limits = {}) {
  return std::string(JinjaTemplate::parse(jinja, "x.jinja").render(variables, limits).view());
}

std::string jinja_error(const std::string& jinja, const TemplateLimits& limits = {}) {
  try {
    return "no error: " + render(jinja, {}, limits);
  } catch (const agon::Error& error) {
    return error.what();
  }
}

// The text with the parts from variables in brackets.
std::string marked(const Text& text) {
  std::string result;
  std::size_t begin = 0;
  for (const Text::Run& run : text.runs()) {
    const std::string bytes(text.view().substr(begin, run.end - begin));
    result += run.origin == kOwn ? bytes : "[" + bytes + "]";
    begin = run.end;
  }
  return result;
}

std::string marked(const std::string& jinja) {
  const Variables given = {{"user", Value::of("  Ab,Cd\n", kGiven)},
                           {"list", Value::from_json({"P", "Q", {{"K", "V\n"}}}, kGiven)}};
  return marked(JinjaTemplate::parse(jinja, "x").render(given));
}

std::string repeated(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

}  // namespace

TEST_CASE("jinja: each construct gives what jinja2 gives") {
  const Json file = Json::parse(agon::read_file(agon::test::golden_path("jinja/expected.json")));
  const Variables variables = variables_of(file["variables"]);
  for (const Json& construct : file["constructs"]) {
    INFO(construct["jinja"]);
    CHECK(rendered(construct["jinja"], variables) == construct["text"]);
  }
}

TEST_CASE("jinja: chat templates render conversations as in transformers") {
  check_chats(Json::parse(agon::read_file(agon::test::golden_path("jinja/expected.json"))));
}

TEST_CASE("jinja: templates of script/check_chat_templates render as in transformers", "[.chat_templates]") {
  const char* path = std::getenv("AGON_CHAT_TEMPLATES");
  REQUIRE(path != nullptr);
  check_chats(Json::parse(agon::read_file(path)));
}

TEST_CASE("jinja: what is given stays marked through every operation") {
  CHECK(marked("a{{ user }}b") == "a[  Ab,Cd\n]b");
  CHECK(marked("{{ 'x' + user.strip() ~ 'y' }}") == "x[Ab,Cd]y");
  CHECK(marked("{{ user | trim | replace(',', ';') }}") == "[Ab];[Cd]");
  CHECK(marked("{{ 'x,y' | replace(',', user | trim) }}") == "x[Ab,Cd]y");
  CHECK(marked("{{ user.split(',')[0].lstrip() }}") == "[Ab]");
  CHECK(marked("{{ user.split(',') | join('-') }}") == "[  Ab]-[Cd\n]");
  CHECK(marked("{{ ('<' + user.strip() + '>')[3:0:-1] }}|{{ ('<' ~ user.strip())[:2] }}") == "[,bA]|<[A]");
  CHECK(marked("{{ user | upper | trim }}{{ user.title().strip() }}") == "[AB,CDAb,Cd]");
  CHECK(marked("{{ user | tojson }}") == "\"[  Ab,Cd\\n]\"");
  CHECK(marked("{{ list | tojson }}") == R"(["[P]", "[Q]", {"[K]": "[V\n]"}])");
  CHECK(marked("{{ list }}") == R"(['[P]', '[Q]', {'[K]': '[V\n]'}])");
  CHECK(marked("{% for c in user | trim %}{{ c }}{{ loop.index }}{% endfor %}") == "[A]1[b]2[,]3[C]4[d]5");
  CHECK(marked("{% for k, v in list[2] | items %}{{ k ~ '=' ~ v }}{% endfor %}") == "[K]=[V\n]");
  CHECK(marked("{% set x %}<{{ list[0] }}>{% endset %}{{ x * 2 }}") == "<[P]><[P]>");
  CHECK(marked("{% macro f(x) %}({{ x }}){% endmacro %}{{ f(list[1]) | reverse }}") == ")[Q](");
  CHECK(marked("{{ ('a' ~ user.strip() ~ '\nb') | indent(1, first=true) }}") == " a[Ab,Cd]\n b");
  CHECK(marked("{{ (user ~ 'x').splitlines() | last }}{{ user.partition(',')[2] }}") == "x[Cd\n]");
  CHECK(marked("{{ list[:2] | map('lower') | sort(reverse=true) | join }}{{ list | first | string }}") == "[qpP]");
  CHECK(marked("{% filter trim %} a{{ user }} {% endfilter %}") == "a[  Ab,Cd]");
}

TEST_CASE("jinja: an error names the template, the line and what is wrong") {
  CHECK(jinja_error("a\n{{ 1 | xyz }}") == "chat template x.jinja, line 2: the filter 'xyz' is not known");
  CHECK(jinja_error("\n\n{% if 1 is xyz %}{% endif %}") ==
        "chat template x.jinja, line 3: the test 'xyz' is not known");
  CHECK(jinja_error("{% include 'y' %}") == "chat template x.jinja, line 1: the statement 'include' is not known");
  CHECK(jinja_error("{% if 1 %}\n\n{{ a.b }}\n{% endif %}") == "chat template x.jinja, line 3: 'a' is undefined");
  CHECK(jinja_error("{{\n 1 +\n [] }}") ==
        "chat template x.jinja, line 2: '+' does not take values of the kinds int and list");
  CHECK(jinja_error("{{ {}.a.b }}") == "chat template x.jinja, line 1: a value of kind dict has no 'a'");
  CHECK(jinja_error("{% for x in [] recursive %}{% endfor %}") ==
        "chat template x.jinja, line 1: a loop that is 'recursive' is not known");
  CHECK(jinja_error("{{ 'a'.zfill(3) }}") == "chat template x.jinja, line 1: a value of kind str has no 'zfill'");
  CHECK(jinja_error("{{ raise_exception('Turns must\nalternate!') }}") ==
        "chat template x.jinja, line 1: Turns must\\nalternate!");
  CHECK(jinja_error("{% for x in [1] %}") ==
        "chat template x.jinja, line 1: expected {% endfor %}, found the end of the template");
  CHECK(jinja_error("{{ [].append(1) }}") ==
        "chat template x.jinja, line 1: 'append' would change a list, which a chat template may not");
}

TEST_CASE("jinja: whole numbers of 2^63 and up keep their digits, and nothing is computed with them") {
  const Variables variables = variables_of(Json::parse(
      R"({"schema": {"maximum": 18446744073709551615, "minimum": 9223372036854775808}, "top": 18446744073709551615})"));
  const auto text = [&](const std::string& jinja) {
    return std::string(JinjaTemplate::parse(jinja, "golden").render(variables).view());
  };
  CHECK(text("{{ schema | tojson }}") == R"({"maximum": 18446744073709551615, "minimum": 9223372036854775808})");
  CHECK(text("{{ top }} {{ top is integer }} {{ top is float }}") == "18446744073709551615 True False");
  CHECK(text("{{ top == schema.maximum }} {{ top == schema.minimum }} {{ top == 1 }}") == "True False False");
  CHECK(text("{{ top > schema.minimum }} {{ 3 < top }} {{ top < 3 }}") == "True True False");
  CHECK_THROWS_WITH(text("{{ top + 1 }}"), Contains("18446744073709551615 is too large to compute with"));
  CHECK_THROWS_WITH(text("{{ 'abc'[top] }}"), Contains("is too large to compute with"));
}

TEST_CASE("jinja: the time is the caller's") {
  setenv("TZ", "UTC", 1);
  const auto chat = JinjaTemplate::parse("{{ strftime_now('%d %b %Y %H:%M') }}", "x");
  CHECK(chat.render({}, {}, 86400 * 365).view() == "01 Jan 1971 00:00");
}

TEST_CASE("jinja: a template that does not end is stopped") {
  const std::string loops = "{% for a in range(10000) %}{% for b in range(10000) %}{% endfor %}{% endfor %}";
  const TemplateLimits limits{.steps = AGON_SANITIZED ? 100'000u : TemplateLimits().steps};
  const std::string too_many = fmt::format("more than {} steps", limits.steps);
  CHECK_THAT(jinja_error(loops, limits), Contains("it takes " + too_many));
  CHECK_THAT(jinja_error("{% for a in range(20) %}x{% endfor %}", {.steps = 30}), Contains("more than 30 steps"));
  CHECK_THAT(jinja_error("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}"),
             Contains("nests more than 250 evaluations"));
  CHECK_THAT(jinja_error("{{ range(1000000) }}"), Contains("range() of more than 100000 numbers"));
  const std::string search = "{% set a = 'a' * 9999999 %}{{ a.find('a' * 999999 ~ 'b') }}";
  CHECK_THAT(jinja_error(search, limits), Contains(too_many));
  CHECK_THAT(
      jinja_error("{% set a = ['a' * 9999999] * 20 %}{% for i in range(99999) %}{{ a == a }}{% endfor %}", limits),
      Contains(too_many));
  CHECK_THAT(jinja_error("{{ 'a' | map(" + repeated("'map', ", 1000) + "'upper') | list }}"),
             Contains("nests more than"));
}

TEST_CASE("jinja: a template that grows is stopped") {
  const auto doubling = [](const std::string& start, const std::string& step) {
    return "{% set n = namespace(x=" + start + ") %}{% for i in range(60) %}{% set n.x = " + step + " %}{% endfor %}";
  };
  CHECK_THAT(jinja_error(doubling("'ab'", "n.x + n.x")), Contains("a text grows beyond 16777216 bytes"));
  CHECK_THAT(jinja_error(doubling("'ab'", "n.x.replace('', n.x)")), Contains("a text grows beyond"));
  CHECK_THAT(jinja_error(doubling("[1]", "n.x + n.x")), Contains("a value holds more than 1048576 values"));
  CHECK_THAT(jinja_error(doubling("[1]", "[n.x, n.x]")), Contains("a value holds more than"));
  CHECK_THAT(jinja_error("{{ 'a' * 999999999999 }}"), Contains("a text grows beyond"));
  CHECK_THAT(jinja_error("{{ [1] * 999999999999 }}"), Contains("it makes more than 536870912 bytes"));
  CHECK_THAT(jinja_error("{{ 'a' | indent(999999999999, true) }}"), Contains("a text grows beyond"));
  CHECK_THAT(jinja_error("{% for i in range(99) %}{{ 'abc' }}{% endfor %}", {.output = 100}),
             Contains("it prints more than 100 bytes"));
  CHECK_THAT(jinja_error("{% set n = namespace(x=1) %}{% for i in range(200) %}{% set n.x = [n.x] %}{% endfor %}"),
             Contains("a value nests more than 100 lists"));
}

TEST_CASE("jinja: a source that nests without end is refused, a namespace that holds itself is freed") {
  for (const auto& [open, close] :
       {std::pair("(", ")"), std::pair("[", "]"), std::pair("-", ""), std::pair("not ", "")})
    CHECK_THAT(jinja_error("{{ " + repeated(open, 5000) + "1" + repeated(close, 5000) + " }}"),
               Contains("line 1: it nests more than 200 levels"));
  for (const std::string chain : {" + 1", "|abs", ".a", "[0]", " and 1", "()", " is defined", " if 1"})
    CHECK_THAT(jinja_error("{{ 1" + repeated(chain, 5000) + " }}"), Contains("nests more than 200 levels"));
  CHECK_THAT(jinja_error(repeated("{% if 1 %}", 5000)), Contains("nests more than 200 levels"));
  CHECK(render("{{ " + repeated("(", 150) + "1" + repeated(")", 150) + " }}") == "1");
  CHECK(render("{% set n = namespace() %}{% set n.n = n %}{{ n.n.n is defined }}") == "True");
}

TEST_CASE("jinja: bytes that are not UTF-8 pass") {
  const Variables given = {{"x", Value::of("a\xff\xe4\xbd z\xc3", kGiven)}};
  CHECK(render("{{ x | trim | length }}{{ x[1] }}{{ x[::-1] }}{{ x | tojson }}{{ x.split() | last | upper }}", given) ==
        "7\xff\xc3z \xbd\xe4\xff"
        "a\"a\xff\xe4\xbd z\xc3\"Z\xc3");
}
