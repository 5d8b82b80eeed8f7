#include "cli/output.h"

#include <catch2/catch.hpp>
#include <exception>
#include <filesystem>

#include "cli/report/saved_pictures.h"
#include "core/error.h"
#include "core/text.h"
#include "temp_folder.h"

using namespace agon;
namespace fs = std::filesystem;

TEST_CASE("text that anybody wrote steers no terminal") {
  CHECK(printable("a\tb\nc") == "a\tb\nc");
  CHECK(printable("\x1b]0;title\x07\r\x08\x7f") == "\\x1b]0;title\\x07\\x0d\\x08\\x7f");
  CHECK(printable("\xc2\x9b"
                  "31m") == "\\x9b31m");
  CHECK(printable("\x9b"
                  "31m") == "\\x9b31m");                 // one byte, which 8-bit terminals interpret
  CHECK(printable("\xe0\x82\x9b") == "\xe0\\x82\\x9b");  // U+009B, longer than allowed
  CHECK(printable("\xe2\x80\xae") == "\\u202e");
  CHECK(printable("\xe2\x81\xa6\xe2\x81\xa9\xe2\x80\xa8") == "\\u2066\\u2069\\u2028");
  CHECK(printable("\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d \xf0\x9f\x98\x80") ==
        "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d \xf0\x9f\x98\x80");
  CHECK(printable(std::string("\0x", 2)) == "\\x00x");
  CHECK(printable_line("a\tb\nc\x1b") == "a\\tb\\nc\\x1b");
}

TEST_CASE("JSON is printed without control characters and reads back as it was") {
  const Json json = {{"a\x7f", "\x1b\xc2\x9b\xe2\x80\xae \xc3\xa9 \\x9b"}};
  const std::string text = cli::json_text(json);
  CHECK(Json::parse(text) == json);
  CHECK(text.find('\x7f') == text.npos);
  CHECK(text.find("\xc2\x9b") == text.npos);
  CHECK(text.find("\\u202e") != text.npos);
  CHECK(text.find("\xc3\xa9") != text.npos);
  CHECK(Json::parse(cli::json_text(Json("\xff\x9b"))) == "\xef\xbf\xbd\xef\xbf\xbd");
}

TEST_CASE("names of pictures are safe as names of files") {
  CHECK(cli::file_name_of("chart.png") == "chart.png");
  CHECK(cli::file_name_of("a/b/\xc3\xa9.png") == "\xc3\xa9.png");
  CHECK(cli::file_name_of("\x1b[2J\n\t\x7f\xc2\x9b.png") == "_[2J____.png");
  CHECK(cli::file_name_of("\xe2\x80\xaegnp.exe.png") == "_gnp.exe.png");
  CHECK(cli::file_name_of("\xff.png") == "\xef\xbf\xbd.png");
  CHECK(cli::file_name_of("-rf.png") == "_rf.png");
  CHECK(cli::file_name_of(".png") == "_png");
  CHECK(cli::file_name_of(std::string("a\0b.png", 7)) == "a_b.png");
  for (const char* name : {"", ".", "..", "a/..", "a/", "/"}) CHECK(cli::file_name_of(name) == "picture");
  CHECK(cli::file_name_of(std::string(251, 'n') + ".png") == std::string(251, 'n') + ".png");
  // Each byte that is not UTF-8 becomes three bytes.
  const std::string grown = cli::file_name_of(std::string(251, '\xff') + ".png");
  CHECK(grown.size() <= 255);
  CHECK(grown.ends_with("\xef\xbf\xbd.png"));
  CHECK(cli::file_name_of(std::string(300, 'n')).size() == 255);
}

TEST_CASE("pictures are saved whatever they are called, and none takes another's place") {
  const test::TempFolder folder;
  cli::SavedPictures saved;
  const std::string longest = std::string(251, 'n') + ".png";
  CHECK(fs::path(saved.save(folder.path(), longest, "1")).filename() == longest);
  CHECK(read_file(folder.path() / longest) == "1");
  CHECK(saved.save(folder.path() / "new", "a\x1b.png", "1") == folder.path() / "new" / "a_.png");
  CHECK(saved.save(folder.path() / "new", "a_.png", "2") == folder.path() / "new" / "a_-2.png");
  CHECK(saved.save(folder.path() / "new", "a\x07.png", "3") == folder.path() / "new" / "a_-3.png");
  CHECK(saved.save(folder.path() / "new", "a\x1b.png", "4") == folder.path() / "new" / "a_.png");  // replaced
  CHECK(read_file(folder.path() / "new" / "a_.png") == "4");
  CHECK(saved.save(folder.path() / "new", "x/a_.png", "5") == folder.path() / "new" / "a_-4.png");
  CHECK(saved.save(folder.path(), std::string(250, 'n') + "\x1b.png", "6").size() > 250);
  CHECK(saved.save(folder.path(), std::string(250, 'n') + "\x07.png", "7").ends_with("n-2.png"));
  fs::create_directories(folder.path() / "taken.png");
  CHECK_THROWS_AS(saved.save(folder.path(), "taken.png", "8"), std::exception);
  CHECK_THROWS_AS(saved.save(folder.path() / longest, "a.png", "9"), std::exception);
}
