#include "core/json_records.h"

#include <catch2/catch.hpp>
#include <sstream>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "error_of.h"

using namespace agon;
using Catch::Contains;
using namespace std::string_literals;

namespace {

std::vector<SortedJson> records_of(const std::string& content) {
  std::vector<SortedJson> records;
  read_records(content, "my tasks.jsonl",
               [&](const SortedJson& record, const RecordPlace&) { records.push_back(record); });
  return records;
}

SortedJson only(const std::string& content) { return records_of(content).at(0); }

std::string failure(const std::string& content) {
  return test::error_of([&] { records_of(content); });
}

}  // namespace

TEST_CASE("json records: lines and arrays, with the marks and gaps that tools leave") {
  const std::vector<SortedJson> both = {{{"a", 1}}, {{"a", 2}}};
  for (const std::string mark : {"", "\xEF\xBB\xBF"}) {
    CHECK(records_of(mark + "{\"a\": 1}\n{\"a\": 2}") == both);
    CHECK(records_of(mark + "\r\n{\"a\": 1}\r\n  \r\n{\"a\": 2}\r\n") == both);
    CHECK(records_of(mark + "[{\"a\": 1}, {\"a\": 2}]") == both);
    CHECK(records_of(mark + "\n[\n  {\"a\": 1},\n  {\"a\": 2}\n]\n") == both);
    CHECK(records_of(mark).empty());
    CHECK(records_of(mark + "[]").empty());
  }
  CHECK(only(R"({"a": null, "b": {"c": null, "d": [2.0, 1e3, 0.5]}})") == SortedJson({{"b", {{"d", {2, 1000, 0.5}}}}}));
  CHECK(RecordPlace{false, 3}.in("t.jsonl") == "t.jsonl:3");
  CHECK(RecordPlace{true, 3}.in("t.json") == "t.json, item 3");
}

TEST_CASE("json records: lines are visited as they come") {
  std::istringstream input("{\"a\": 1}\n{\"a\": 2}\noops\n");
  int seen = 0;
  CHECK_THROWS_WITH(read_records(input, "-", [&](const SortedJson&, const RecordPlace&) { ++seen; }),
                    Contains("-:3: not JSON"));
  CHECK(seen == 2);
}

TEST_CASE("json records: a number whose digits a double does not hold stays as it was written") {
  for (const std::string number :
       {"123456789012345678901234567890", "18446744073709551616", "-9223372036854775809", "9007199254740993.0",
        "12345678901234567890123e2", "0.12345678901234567891", "1e-400"})
    CHECK(only("{\"a\": " + number + "}")["a"] == number);
  for (const std::string number : {"18446744073709551615", "-9223372036854775808", "9007199254740992", "1.5"})
    CHECK(only("{\"a\": " + number + "}")["a"].dump() == number);
  CHECK(only(R"({"a": 1E+22})")["a"] == 1e22);
  CHECK(only(R"({"a": 0.1000000000000000055511151231257827})")["a"].is_string());
  CHECK(only(R"({"a": 0.10000000000000001})")["a"] == 0.1);
  CHECK(only(R"({"a": 0.10000000000000002})")["a"] == 0.10000000000000002);
  CHECK(only(R"({"a": -8.0143986091895008e+16})")["a"] == -80143986091895008.0);
  CHECK(only(R"({"a": 103.33333333333333})")["a"] == 103.33333333333333);
  CHECK(only(R"({"a": 1.50000000000000000000})")["a"] == 1.5);
  CHECK(only(R"({"a": 100000000000000000000.0})")["a"] == 1e20);
  // Another program's numbers of 20 digits are accepted in a box.
  CHECK(only(R"({"a": [0.30000001192092895508, 2]})")["a"][0].is_number());
  CHECK(only(R"({"a": [123456789012345678901]})")["a"][0] == "123456789012345678901");
}

TEST_CASE("json records: a file of another form is refused with its place and advice") {
  const auto told = [](const std::string& content, const std::string& what) {
    CAPTURE(content);
    CHECK_THAT(failure(content), Contains("my tasks.jsonl") && Contains(what) && !Contains("{{"));
  };
  told("7", ":1: not a JSON object {...}");
  told("[[1]]", "not a JSON object {...}");
  told("[{\"id\": 1}, 2]", ", item 1: not a JSON object");
  told("{\"a\": 1}\n{\"a\": 1, \"a\": 2}", ":2: the key \"a\" occurs twice");
  told(R"([{"a": 1, "b": {"c": {}, "c": 2}}])", "the key \"c\" occurs twice");
  told("{\n  \"a\": 1\n}\n", "jq -c . 'my tasks.jsonl'");
  told("id,prompt\n1,Why?\n", "read_csv");
  told("\xFF\xFE{\0\"\0"s, "iconv -f UTF-16 -t UTF-8 'my tasks.jsonl'");
  told("\xFE\xFF\0{\0\""s, "iconv -f UTF-16 ");
  told("{\0\"\0i\0"s, "iconv -f UTF-16LE");
  told("\0{\0\""s, "iconv -f UTF-16BE");
  told("\xFF\xFE\0\0{\0\0\0"s, "iconv -f UTF-32 ");
  told("{\0\0\0\"\0\0\0"s, "iconv -f UTF-32LE");
  told("\0\0\0{\0\0\0\""s, "iconv -f UTF-32BE");
  told("\x1F\x8B\x08", "gzip -dc 'my tasks.jsonl' >tasks.jsonl");
  told(std::string(50'000, '['), "nested");
  told("{\"a\": " + std::string(50'000, '['), "nested");
  told(R"({"a": 1e999})", "Numbers are finite");
  std::string keys = "{\"k\": 1";
  for (int i = 0; i < 100'000; ++i) keys += fmt::format(", \"k{}\": 1", i);
  told(keys + "}", "more than 10000 keys");
}

TEST_CASE("json records: records one deeper are found where what is read has no place for them") {
  const auto refuse = [](const std::string& content) {
    read_records(content, "d.json", [](const SortedJson&, const RecordPlace&) { throw Error("no \"id\""); });
  };
  CHECK_THROWS_WITH(
      refuse(R"({"data": [{"id": 1}]})"),
      "d.json:1: no \"id\". Are the records in its \"data\"? Write them one a line: jq -c '.[\"data\"][]' d.json");
  CHECK_THROWS_WITH(refuse(R"({"data": [{"id": 1}], "b": 1})"), "d.json:1: no \"id\"");
  CHECK(records_of(R"({"messages": [{"role": "user"}]})").size() == 1);  // the caller decides whether to accept it
}

TEST_CASE("json records: one value over many lines") {
  CHECK(read_value("\xEF\xBB\xBF{\n \"a\": 2.0,\n \"b\": null\n}\n", "p.json") == SortedJson({{"a", 2}}));
  CHECK_THROWS_WITH(read_value("{\n\"a\": 1,\n\"a\": 2}", "p.json"), "p.json: the key \"a\" occurs twice. Keep one");
  CHECK_THROWS_WITH(read_value("{\n\"a\": }", "p.json"), Contains("p.json: not JSON: line 2, column 6"));
  CHECK_THROWS_WITH(read_value("PAR1", "p q"), Contains("tasks.jsonl") && Contains("'p q'"));
}

TEST_CASE("a word of a shell is quoted where it must be") {
  CHECK(shell_word("runs/a-1.json") == "runs/a-1.json");
  CHECK(shell_word("a b") == "'a b'");
  CHECK(shell_word("it's") == R"('it'\''s')");
  CHECK(shell_word("$(reboot)") == "'$(reboot)'");
  CHECK(shell_word("") == "''");
}
