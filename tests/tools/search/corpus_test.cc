#include "tools/search/corpus.h"
#include "core/file.h"

#include <catch2/catch.hpp>

#include "core/error.h"
#include "temp_folder.h"
#include "tools/search/line_reader.h"

using namespace agon;
using namespace agon::tools;
using Catch::Contains;

namespace {

Document read(std::string_view line) { return std::get<Document>(parse_document(line, 7)); }
std::string fault(std::string_view line) { return std::get<std::string>(parse_document(line, 7)); }

}  // namespace

TEST_CASE("documents come in two forms") {
  CHECK(read(R"({"id": "1", "contents": "\"The Title\"\nThe text.\nMore."})") ==
        Document{"1", "The Title", "The text.\nMore.", {}});
  CHECK(read(R"({"id": 12, "title": "A", "text": "b"})") == Document{"12", "A", "b", {}});
  CHECK(read(R"({"_id": "x", "title": "", "text": "BEIR's"})") == Document{"x", "", "BEIR's", {}});
  CHECK(read(R"({"id": null, "contents": null, "title": "A", "text": "b"})") == Document{"6", "A", "b", {}});
  CHECK(read(R"({"contents": "no title here"})") == Document{"6", "", "no title here", {}});
  CHECK(read(R"({"contents": "plain first line\nrest"})") ==
        Document{"6", "plain first line", "rest", "plain first line"});
  CHECK(read(R"({"contents": "\"A \"quoted\" one\"\nx"})") == Document{"6", "A \"quoted\" one", "x", {}});
  // A title next to the contents, which may also contain it.
  CHECK(read(R"({"contents": "one line", "title": "A"})") == Document{"6", "A", "one line", {}});
  CHECK(read(R"({"contents": "two\nlines", "title": "A"})") == Document{"6", "A", "two\nlines", {}});
  CHECK(read(R"({"contents": "\"A\"\nlines", "title": "A"})") == Document{"6", "A", "lines", {}});
  CHECK(read(R"({"id": 2.0, "contents": "x"})").id == "2");
  CHECK(contents_of("A", "b") == "\"A\"\nb");
  CHECK(contents_of("", "b") == "b");
  CHECK(read("{\"contents\": \"" + std::string(400, 'a') + "\\nb\"}").title.empty());
}

TEST_CASE("a line that is no document is told") {
  CHECK_THAT(fault("{\"id\": "), Contains("not JSON"));
  CHECK_THAT(fault(R"({"id": "1", "contents": "a", "contents": "b"})"), Contains("the key \"contents\" occurs twice"));
  CHECK_THAT(fault(R"({"id": NaN, "contents": "a"})"), Contains("JSON has no NaN"));
  CHECK_THAT(fault("[1]"), Contains("not a JSON object but [1]"));
  CHECK_THAT(fault(R"({"id": "1"})"), Contains("no \"contents\""));
  CHECK_THAT(fault(R"({"id": "1", "contents": " "})"), Contains("no \"contents\""));
  CHECK_THAT(fault(R"({"id": "1", "contents": 3})"), Contains("\"contents\" is 3, not a text"));
  CHECK_THAT(fault(R"({"id": {}, "contents": "x"})"), Contains("\"id\" is {}"));
  CHECK_THAT(fault("{\"contents\": \"\xff\"}"), Contains("not JSON"));
  CHECK_THAT(fault(std::string(100'000, '[')), Contains("nested"));
}

TEST_CASE("lines of any length and end are read") {
  const test::TempFolder folder;
  const std::string path = folder / "lines";
  const std::string big(3 << 20, 'x');
  write_file_atomically(path, "a\r\n\n" + big + "\nlast");
  LineReader lines(path, 2 << 20);
  REQUIRE(lines.next());
  CHECK(lines.line() == "a");
  REQUIRE(lines.next());
  CHECK(lines.line().empty());
  REQUIRE(lines.next());
  CHECK(lines.too_long());
  CHECK(lines.line().size() == 2 << 20);
  REQUIRE(lines.next());
  CHECK(lines.line() == "last");
  CHECK_FALSE(lines.too_long());
  CHECK(lines.number() == 4);
  CHECK_FALSE(lines.next());
  CHECK(lines.bytes() == lines.size());
  LineReader exact(path, big.size());
  for (int line = 0; line < 3; ++line) REQUIRE(exact.next());
  CHECK_FALSE(exact.too_long());
  CHECK(exact.line() == big);
  CHECK_THROWS_WITH(LineReader(folder.path()), Contains("is a folder"));
  CHECK_THROWS_WITH(LineReader(folder / "no"), Contains("cannot be read"));
}
