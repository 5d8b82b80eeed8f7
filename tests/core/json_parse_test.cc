#include "core/json_parse.h"

#include <catch2/catch.hpp>
#include <string>

using namespace agon;
using Catch::Contains;

namespace {

std::string object_of(int keys) {
  std::string text = "{";
  for (int i = 0; i < keys; ++i) text += (i ? ",\"" : "\"") + std::to_string(i) + "\":{\"a\":1}";
  return text + "}";
}

}  // namespace

TEST_CASE("JSON of others is read within bounds") {
  CHECK(json_of(R"({"b": [1, {"c": null}], "a": 2})").dump() == R"({"b":[1,{"c":null}],"a":2})");
  CHECK_THROWS_WITH(json_of("{\"a\": \n x}"), Catch::StartsWith("not JSON: ") && Contains("line 2"));
  CHECK_THROWS_WITH(json_of(""), Contains("not JSON"));
  CHECK_THROWS_WITH(json_of("1 2"), Contains("not JSON"));
  CHECK_THROWS_WITH(json_of("1e400"), Contains("not JSON"));
  CHECK_THROWS_WITH(json_of(std::string("{\"a\": 1}\0 x", 12)), "not JSON: byte 9 is NUL");
  for (const std::string open : {"[", "{\"a\":"}) {
    const std::string close = open == "[" ? "]" : "}";
    const auto nested = [&](int depth) {
      std::string text;
      for (int i = 0; i < depth; ++i) text += open;
      text += "1";
      for (int i = 0; i < depth; ++i) text += close;
      return text;
    };
    CHECK(json_of(nested(kDeepestJson)).dump() == nested(kDeepestJson));
    CHECK_THROWS_WITH(json_of(nested(kDeepestJson + 1)), "nested more than 100 deep");
    CHECK(json_or_discarded(nested(400'000)).is_discarded());
  }
  CHECK(json_of(object_of(kMostJsonKeys)).size() == kMostJsonKeys);
  CHECK_THROWS_WITH(json_of(object_of(kMostJsonKeys + 1)), "an object has more than 10000 keys");
  CHECK(json_or_discarded("nonsense").is_discarded());
  CHECK(json_or_discarded("7") == 7);
}

TEMPLATE_TEST_CASE("a text of an object is taken by its key", "", Json, SortedJson) {
  const TestType object{{"name", "x y"}, {"empty", ""}, {"blank", " \n"}, {"number", 3}, {"null", nullptr}};
  CHECK(text_at(object, "name") == "x y");
  CHECK(text_at(object, "empty").empty());
  CHECK_THROWS_WITH(text_at(object, "other"), "no \"other\"");
  CHECK_THROWS_WITH(text_at(object, "number"), "\"number\" is 3, not a text");
  CHECK_THROWS_WITH(text_at(object, "null"), "\"null\" is null, not a text");
}

TEMPLATE_TEST_CASE("a text may have a value where it is not there", "", Json, SortedJson) {
  const TestType object{{"name", "x"}, {"number", 3}, {"null", nullptr}};
  CHECK(text_at(object, "name", "y") == "x");
  CHECK(text_at(object, "other", "y") == "y");
  CHECK(text_at(object, "null", "y") == "y");
  CHECK_THROWS_WITH(text_at(object, "number", "y"), "\"number\" is 3, not a text");
}

TEMPLATE_TEST_CASE("a text may have to have something in it, or be taken for empty", "", Json, SortedJson) {
  const TestType object{{"name", " x "}, {"blank", " \n"}, {"list", {1, 2}}};
  CHECK(filled_text_at(object, "name") == " x ");
  CHECK_THROWS_WITH(filled_text_at(object, "other"), "no \"other\"");
  CHECK_THROWS_WITH(filled_text_at(object, "blank"), "\"blank\" is \" \\n\", not a text with something in it");
  CHECK_THROWS_WITH(filled_text_at(object, "list"), "\"list\" is [1,2], not a text with something in it");
  CHECK(text_or_empty(object, "name") == " x ");
  CHECK(text_or_empty(object, "list").empty());
  CHECK(text_or_empty(object, "other").empty());
  CHECK(text_or_empty(TestType("a text"), "name").empty());
}

TEST_CASE("numbers of thousands of digits are refused, and strings of as many are read") {
  const std::string digits(5000, '7');
  CHECK_THAT(parse_json(digits).fault, Contains("thousands of digits"));
  CHECK_THAT(parse_json(R"({"a\\": )" + digits + "}").fault, Contains("thousands of digits"));
  CHECK_THAT(parse_json(R"(["\"", )" + digits + "]").fault, Contains("thousands of digits"));
  CHECK_THAT(parse_json(R"(["\\\"", 1.)" + digits + "]").fault, Contains("thousands of digits"));
  for (const std::string& text :
       {"\"" + digits + "\"", R"({"\")" + digits + R"(": 1})", R"(["\\\")" + digits + "\"]"}) {
    CAPTURE(text.substr(0, 12));
    CHECK(parse_json(text).fault.empty());
  }
  CHECK_THAT(parse_json("\"" + digits).fault, Contains("not JSON"));
  CHECK_THAT(parse_json("[\"\\").fault, Contains("not JSON"));
  const std::string quotes = std::string(1'000'000, '"'), slashes = std::string(1'000'000, '\\');  // linear in time
  CHECK_THAT(parse_json(quotes).fault, Contains("not JSON"));
  CHECK_THAT(parse_json("\"" + slashes).fault, Contains("not JSON"));
}
