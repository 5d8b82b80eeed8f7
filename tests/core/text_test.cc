#include "core/text.h"
#include "core/file.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "core/error.h"

using namespace agon;
using Catch::Contains;
using Strings = std::vector<std::string>;

TEST_CASE("trim drops white space at both ends only") {
  CHECK(trim(" \t a b \r\n") == "a b");
  CHECK(trim("a") == "a");
  CHECK(trim(" \n ").empty());
  CHECK(trim("").empty());
}

TEST_CASE("split keeps empty parts") {
  CHECK(split("a,b,,c,", ",") == Strings{"a", "b", "", "c", ""});
  CHECK(split("", ",") == Strings{""});
  CHECK(split("a\n\nb\n", "\n\n") == Strings{"a", "b\n"});
  CHECK(split("ab", "") == Strings{"ab"});
}

TEST_CASE("replace_all ends where a text is a part of its own replacement") {
  CHECK(replace_all("a key, and the key", "key", "<key>") == "a <key>, and the <key>");
  CHECK(replace_all("aaaa", "a", "aa") == "aaaaaaaa");
  CHECK(replace_all("aaa", "aa", "b") == "ba");
  CHECK(replace_all("abc", "", "x") == "abc");
  CHECK(replace_all("", "a", "x").empty());
  CHECK(replace_all("abc", "abc", "") == "");
  CHECK(replace_all("abc", "d", "x") == "abc");
  CHECK(replace_all(std::string(100'000, 'x'), "x", "<x>").size() == 300'000);
}

TEST_CASE("replace_all of several texts takes the longer of two that begin together, and looks once") {
  CHECK(replace_all("abc ab b", Strings{"ab", "abc"}, "_") == "_ _ b");
  CHECK(replace_all("ab", Strings{"a", "b", "_"}, "_b_") == "_b__b_");
  CHECK(replace_all("abc", Strings{"", ""}, "x") == "abc");
  CHECK(replace_all("abc", Strings{}, "x") == "abc");
}

TEST_CASE("edit distance counts insertions, deletions and substitutions") {
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance("flaw", "lawn") == 2);
  CHECK(edit_distance("same", "same") == 0);
  CHECK(edit_distance("level", "levle") == 1);
  CHECK(edit_distance("ab", "ba") == 1);
  CHECK(edit_distance("abcd", "badc") == 2);
  const std::vector<std::string> keys{"size", "kind", "level"};
  CHECK(slip_of("Size", keys) == "size");
  CHECK(slip_of("kidn", keys) == "kind");
  CHECK(slip_of("sizes", keys) == "size");
  CHECK(slip_of("levle", keys) == "level");
  for (const char* own : {"site", "side", "kid", "size", "king"}) CHECK(slip_of(own, keys) == std::nullopt);
}

TEST_CASE("only a likely slip has a nearest name") {
  const Strings suites{"charts", "jsonl", "phone", "shapes"};
  CHECK(nearest_name("chart", suites) == "charts");
  CHECK(nearest_name("SHAPES", suites) == "shapes");
  CHECK(nearest_name("jsnol", suites) == "jsonl");       // two neighbours, swapped
  CHECK(nearest_name("jsxxl", suites) == std::nullopt);  // two of five letters
  CHECK(nearest_name("phxxe1", suites) == std::nullopt);
  CHECK(nearest_name("shpaes", suites) == "shapes");  // two of six
  CHECK(nearest_name("x", suites) == std::nullopt);
  CHECK(nearest_name("", suites) == std::nullopt);
  CHECK(nearest_name("a", {}) == std::nullopt);
  CHECK(unknown_name_message("suite", "chart", suites) ==
        "suite: no 'chart'. Did you mean 'charts'? There are: charts, jsonl, phone, shapes.");
  CHECK(unknown_name_message("suite", "maths", suites) ==
        "suite: no 'maths'. There are: charts, jsonl, phone, shapes.");
}

TEST_CASE("a file is written whole or not at all") {
  const auto folder = std::filesystem::temp_directory_path() / "agon-text-test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string path = folder / "a.txt", content("a\0b\n", 4);
  write_file_atomically(path, content);
  CHECK(read_file(path) == content);
  write_file_atomically(path, "");
  CHECK(read_file(path).empty());
  CHECK_THROWS_WITH(write_file_atomically(folder / "absent" / "b.txt", "x"), Contains("b.txt"));
  std::filesystem::create_directories(folder / "taken" / "inside");
  CHECK_THROWS_WITH(write_file_atomically(folder / "taken", "x"), Contains("taken"));
  CHECK_THROWS_WITH(read_file(folder), Contains("folder"));
  CHECK_THROWS_WITH(read_file(folder / "absent.txt"), Contains("absent.txt"));
  std::size_t entries = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++entries;
  CHECK(entries == 2);  // a.txt and taken: no temporary file is left
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK_THROWS_WITH(read_file(folder / "pipe"), Contains("pipe: is not a regular file"));
  CHECK_THROWS_WITH(write_file_atomically(folder / "pipe", "x"), Contains("pipe"));
  CHECK(std::filesystem::is_fifo(folder / "pipe"));
  std::filesystem::create_symlink("a.txt", folder / "link");
  write_file_atomically(folder / "link", "through");
  CHECK(read_file(path) == "through");
  CHECK(std::filesystem::is_symlink(folder / "link"));
  std::filesystem::remove_all(folder);
}

TEST_CASE("lower case and words are those of Unicode, and bytes that are no UTF-8 stay") {
  CHECK(to_lower("ÉCLAIR Über \xff X") == "éclair über \xff x");
  CHECK(to_lower("").empty());
  CHECK(split_words("a\u00a0b\u2003 c\t\n") == Strings{"a", "b", "c"});
  CHECK(split_words("\xff\xfe x") == Strings{"\xff\xfe", "x"});
  CHECK(split_words(" ").empty());
}

TEST_CASE("a character of UTF-8 is read and written, and a byte that begins none stands for itself") {
  for (const std::string text : {"a", "é", "€", "𝄞", "\x7F"}) {
    CAPTURE(text);
    const Character first = first_character(text + "b");
    CHECK(first.bytes == text.size());
    std::string written = "<";
    append_character(written, first.code_point);
    CHECK(written == "<" + text);
  }
  for (const char* text : {"\xE2\x82", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\x80", "\xFF"}) {
    CHECK(first_character(text).code_point == -1);
    CHECK(first_character(text).bytes == 1);
  }
  CHECK(first_character("").code_point == -1);
}

TEST_CASE("a text is cut between its characters") {
  CHECK(cut_text("aé€", 6) == "aé€");
  CHECK(cut_text("aé€", 5) == "aé");
  CHECK(cut_text("aé€", 2) == "a");
  CHECK(cut_text("€", 2).empty());
  CHECK(last_bytes("aé€", 6) == "aé€");
  CHECK(last_bytes("aé€", 4) == "€");
  CHECK(last_bytes("aé€", 2).empty());
  CHECK(last_bytes("ab", 1) == "b");
  CHECK(last_bytes("ab", 0).empty());
}
