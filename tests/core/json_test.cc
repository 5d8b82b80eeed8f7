#include "core/json.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>

using namespace agon;

namespace {

std::optional<int> whole(const char* text, int low, int high) { return whole_number(Json::parse(text), low, high); }

}  // namespace

TEST_CASE("a whole number is taken in its range alone, however it is stored") {
  CHECK(whole("1", 1, 3) == 1);
  CHECK(whole("3", 1, 3) == 3);
  CHECK(whole("-0", 0, 3) == 0);
  CHECK(whole("-1", -1, 3) == -1);
  for (const char* other : {"0", "4", "-1", "4294967297", "-4294967295", "9223372036854775807", "9223372036854775808",
                            "18446744073709551615", "18446744073709551617", "-9223372036854775808", "1e30", "1.5",
                            "2.0", "-1e400", "\"2\"", "true", "null", "[2]", "{}"}) {
    CAPTURE(other);
    const Json json = Json::parse(other, nullptr, false);
    CHECK_FALSE(whole_number(json, 1, 3));
    CHECK_FALSE(whole_number<std::size_t>(nlohmann::json(json), 1, 3));
  }
}

TEST_CASE("a whole number reaches the ends of its type") {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  CHECK(whole_number<std::uint64_t>(Json(kMost), 0, kMost) == kMost);
  CHECK_FALSE(whole_number<std::uint64_t>(Json(-1), 0, kMost));
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  CHECK(whole_number<std::int64_t>(Json(kLeast), kLeast, 0) == kLeast);
  CHECK_FALSE(whole_number<std::int64_t>(Json(kMost), kLeast, std::numeric_limits<std::int64_t>::max()));
}

TEST_CASE("a value that is not a whole number is refused, with the value") {
  CHECK(whole_number_or_throw(Json(2), "picture", 1, 3) == 2);
  CHECK_THROWS_WITH(whole_number_or_throw(Json(18446744073709551615u), "picture", 1, 3),
                    "picture is 18446744073709551615, not a whole number from 1 to 3");
  CHECK_THROWS_WITH(whole_number_or_throw(Json("two"), "\"topk\"", 1, 3),
                    "\"topk\" is \"two\", not a whole number from 1 to 3");
  CHECK_THROWS_WITH(whole_number_or_throw(Json(std::string(100, 'x')), "n", 1, 3),
                    Catch::Contains("xxx..., not a whole"));
}

TEST_CASE("JSON is printed whatever bytes its texts hold") {
  const Json json{{"b",
                   "\xFF"
                   "a"},
                  {"a", {1, "é"}}};
  CHECK(to_text(json) ==
        "{\"b\":\"\xEF\xBF\xBD"
        "a\",\"a\":[1,\"é\"]}");
  CHECK(to_text(Json{{"a", 1}}, 2) == "{\n  \"a\": 1\n}");
  CHECK(to_text(nlohmann::json(json)) ==
        "{\"a\":[1,\"é\"],\"b\":\"\xEF\xBF\xBD"
        "a\"}");
  CHECK(to_ascii(json) == R"({"b":"\ufffda","a":[1,"\u00e9"]})");
}
