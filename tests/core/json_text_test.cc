#include "core/json_text.h"

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
