#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "core/error.h"
#include "tools/json_schema.h"
#include "tools/tool_format.h"
#include "tools/tool_set.h"

using namespace agon;
using namespace agon::tools;
using Catch::Contains;

namespace {

// Returns its text after `failures` failures of `fault`; counts its calls.
class EchoTool : public Tool {
 public:
  explicit EchoTool(std::string name = "echo", bool idempotent = true) {
    spec_ = {name,
             "Says it again.",
             Json::parse(R"({"type": "object", "required": ["text"], "additionalProperties": false, "properties": {
               "text": {"type": "string", "maxLength": 20}, "times": {"type": "integer", "minimum": 1},
               "mood": {"enum": ["plain", "loud"]}, "boxes": {"type": "array", "items": {"type": "array",
               "maxItems": 4, "items": {"type": "integer"}}}}})"),
             name,
             "text",
             5,
             idempotent};
  }
  const ToolSpec& spec() const override { return spec_; }
  ToolResult call(const Json& arguments, const ToolContext& context) override {
    ++asked;
    pictures_seen = context.pictures.size();
    seconds_given = context.seconds;
    if (sleep_seconds > 0) std::this_thread::sleep_for(std::chrono::duration<double>(sleep_seconds));
    if (failures-- > 0) return {{}, ToolError{fault, "not now", retry_after}, 0};
    ToolResult result = ToolResult::text(arguments["text"]);
    if (draws) result.parts.push_back(Part::of(Image(1, 1, {1, 2, 3})));
    return result;
  }
  std::unique_ptr<Tool> fork() const override { return stateful ? std::make_unique<EchoTool>(*this) : nullptr; }

  int asked = 0, failures = 0;
  ToolFault fault = ToolFault::unavailable;
  double sleep_seconds = 0, retry_after = 0, seconds_given = 0;
  bool draws = false, stateful = false;
  std::size_t pictures_seen = 0;

 private:
  ToolSpec spec_;
};

ToolCall say(const Json& arguments) { return {"1", "echo", arguments}; }

std::string message(const ToolResult& result) { return result.error ? result.error->message : "no error"; }
std::string_view fault(const ToolResult& result) { return result.error ? to_string(result.error->fault) : "none"; }

}  // namespace

TEST_CASE("a call is checked, made and recorded") {
  const auto echo = std::make_shared<EchoTool>();
  std::vector<ToolRecord> records;
  ToolSet tools({echo}, {.on_attempt = [&](const ToolRecord& record) { records.push_back(record); }});
  const ToolResult result = tools.call(say({{"text", "hi"}}));
  CHECK_FALSE(result.error);
  CHECK(result.parts.at(0).text == "hi");
  REQUIRE(records.size() == 1);
  CHECK(records[0].name == "echo");
  CHECK(records[0].id == "1");
  CHECK(records[0].arguments == Json{{"text", "hi"}});
  CHECK(records[0].started > 1.7e9);
  CHECK(records[0].seconds >= 0);
  CHECK(tools.call(say("{\"text\": \"as OpenAI has it\"}")).parts.at(0).text == "as OpenAI has it");
  CHECK(records.back().call == 1);
  CHECK(echo->seconds_given == Approx(5).margin(0.5));
}

TEST_CASE("arguments that do not fit are told with place, value and what is wanted") {
  const auto echo = std::make_shared<EchoTool>();
  ToolSet tools({echo}, {});
  const auto told = [&](const Json& arguments) {
    const ToolResult result = tools.call(say(arguments));
    CHECK(fault(result) == "bad_arguments");
    return message(result);
  };
  CHECK(told({{"text", 3}}) == "text is 3, but its type must be \"string\".");
  CHECK(told(Json::object()) == "the arguments must have text.");
  CHECK(told({{"text", "a"}, {"times", 0}}) == "times is 0, but the schema wants minimum 1.");
  CHECK(told({{"text", "a"}, {"mood", "sad"}}) == "mood is \"sad\", but it must be one of [\"plain\",\"loud\"].");
  CHECK(told({{"text", "a"}, {"tims", 2}}) ==
        "the arguments may have text, times, mood, boxes, not \"tims\". Did you mean times?");
  CHECK(told({{"text", "a"}, {"boxes", {{1, 2}, {1, "x"}}}}) ==
        "boxes[1][1] is \"x\", but its type must be \"integer\".");
  CHECK(told({{"text", std::string(21, 'a')}}) ==
        "text is \"aaaaaaaaaaaaaaaaaaaaa\", but the schema wants maxLength 20.");
  CHECK(told(Json::array()) == "the arguments are [], but its type must be \"object\".");
  CHECK_THAT(told("{\"text\": \"a"), Contains("not JSON") && Contains("{\\\"text\\\": \\\"a"));
  CHECK_THAT(told("{\"text\": \"\xff\"}"), Contains("not JSON"));
  CHECK_THAT(told(std::string(100'000, '[')), Contains("nested more than 32 deep"));
  CHECK_THAT(told(std::string(2 << 20, ' ') + "{}x"), Contains("bytes long"));
  CHECK_THAT(told(7), Contains("object"));
  CHECK(told("") == "the arguments must have text.");
  std::string wide = "{";
  for (int i = 0; i < 60'000; ++i) wide += "\"k" + std::to_string(i) + "\":1,";
  CHECK_THAT(told(wide + "\"text\":\"a\"}"), Contains("more than 1000 keys"));
  CHECK(echo->asked == 0);
  CHECK(message(tools.call({"", "ecko", Json::object()})) == "tools: no 'ecko'. Did you mean 'echo'? There are: echo.");
}

TEST_CASE("a whole number that no int64 holds fits no schema") {
  const JsonSchema schema("tool", Json::parse(R"({"type": "object", "properties": {
      "n": {"type": "integer", "minimum": 1}, "list": {"type": "array"}, "x/y": {"type": "number"}}})"));
  CHECK(schema.fault(Json::parse(R"({"n": 9223372036854775807})")).empty());
  CHECK(schema.fault(Json::parse(R"({"n": 18446744073709551615})")) ==
        "n is above 9223372036854775807, the largest whole number.");
  CHECK(schema.fault(Json::parse(R"({"list": [{"deep": [1, 9223372036854775808]}]})")) ==
        "list[0].deep[1] is above 9223372036854775807, the largest whole number.");
  CHECK_THAT(schema.fault(Json::parse(R"({"x/y": 9223372036854775808})")), Contains("largest whole number"));
  CHECK_THAT(schema.fault(Json::parse(R"({"n": 1e30})")), Contains("type must be"));
  CHECK_THAT(schema.fault(Json::parse(R"({"n": -9223372036854775808})")), Contains("minimum"));
}

TEST_CASE("budgets end calls") {
  ToolSet tools({std::make_shared<EchoTool>(), std::make_shared<EchoTool>("other")},
                {.calls = 3, .calls_of = {{"echo", 1}}});
  CHECK(fault(tools.call(say({{"text", "a"}}))) == "none");
  CHECK(message(tools.call(say({{"text", "a"}}))) == "All 1 calls of echo are used up. Go on without it.");
  const ToolCall other{"", "other", {{"text", "a"}}};
  CHECK(fault(tools.call(other)) == "none");
  CHECK(fault(tools.call({"", "no", {}})) == "unknown_tool");
  CHECK(fault(tools.call(other)) == "budget");
}

TEST_CASE("seconds end calls, and late results are timeouts") {
  const auto slow = std::make_shared<EchoTool>("echo", false);
  slow->sleep_seconds = 0.05;
  ToolSet timed({slow}, {.timeout_seconds = {{"echo", 0.01}}});
  CHECK(fault(timed.call(say({{"text", "a"}}))) == "timeout");
  CHECK(slow->asked == 1);
  ToolSet spent({slow}, {.seconds = 1});
  slow->sleep_seconds = 0;
  CHECK(fault(spent.call(say({{"text", "a"}}))) == "none");
  slow->sleep_seconds = 1.05;
  CHECK(fault(spent.call(say({{"text", "a"}}))) == "timeout");
  CHECK(fault(spent.call(say({{"text", "a"}}))) == "budget");
}

TEST_CASE("idempotent tools alone are retried, and only for what may pass") {
  std::vector<int> attempts;
  const auto calls_of = [&](EchoTool tool) {
    const auto echo = std::make_shared<EchoTool>(std::move(tool));
    attempts.clear();
    ToolSet tools({echo}, {.backoff_seconds = 0.001,
                           .on_attempt = [&](const ToolRecord& record) { attempts.push_back(record.attempt); }});
    tools.call(say({{"text", "a"}}));
    return echo->asked;
  };
  EchoTool flaky;
  flaky.failures = 2;
  CHECK(calls_of(flaky) == 3);
  CHECK(attempts == std::vector<int>{0, 1, 2});
  flaky.failures = 9;
  CHECK(calls_of(flaky) == 3);
  EchoTool broken = flaky;
  broken.fault = ToolFault::failed;
  CHECK(calls_of(broken) == 1);
  EchoTool patient = flaky;
  patient.retry_after = 100;  // longer than the call may take
  CHECK(calls_of(patient) == 1);
  EchoTool once("echo", false);
  once.failures = 1;
  CHECK(calls_of(once) == 1);
}

TEST_CASE("a fork has a future of its own") {
  const auto stateless = std::make_shared<EchoTool>();
  const auto stateful = std::make_shared<EchoTool>("notes");
  stateless->draws = stateful->stateful = true;
  ToolSet tools({stateless, stateful}, {.calls = 4});
  tools.add_picture(Image(2, 2, std::vector<std::uint8_t>(12, 9)));
  tools.call(say({{"text", "a"}}));
  CHECK(tools.pictures().size() == 2);
  ToolSet fork = tools.fork();
  fork.call(say({{"text", "b"}}));
  fork.call({"", "notes", {{"text", "c"}}});
  CHECK(stateless->pictures_seen == 2);
  CHECK(stateless->asked == 2);
  CHECK(stateful->asked == 0);
  CHECK(fork.pictures().size() == 3);
  CHECK(tools.pictures().size() == 2);
  CHECK(fault(fork.call(say({{"text", "d"}}))) == "none");  // the fourth and last of the fork
  CHECK(fault(fork.call(say({{"text", "e"}}))) == "budget");
  for (int call = 2; call <= 4; ++call) CHECK(fault(tools.call(say({{"text", "b"}}))) == "none");
  CHECK(fault(tools.call(say({{"text", "c"}}))) == "budget");
}

TEST_CASE("a set of tools that cannot be is refused") {
  CHECK_THROWS_WITH(ToolSet({std::make_shared<EchoTool>(), std::make_shared<EchoTool>()}, {}), Contains("two tools"));
  CHECK_THROWS_WITH(ToolSet({std::make_shared<EchoTool>()}, {.calls_of = {{"eho", 1}}}),
                    Contains("Did you mean 'echo'?"));
  CHECK_THROWS_WITH(JsonSchema("x", Json::array()), Contains("x: the schema of its arguments is []"));
}
