#include "sandbox/launcher/session/output_buffer.h"

#include <catch2/catch.hpp>

using namespace agon::sandbox::launcher;
using Catch::Contains;

TEST_CASE("what fits is kept as it is") {
  OutputBuffer buffer(16);
  buffer.add("hello ");
  buffer.add("world\n");
  CHECK(buffer.text() == "hello world\n");
  CHECK(buffer.dropped() == 0);
}

TEST_CASE("head and tail are kept, and what is between is told") {
  OutputBuffer buffer(20);
  std::string all;
  for (int i = 0; i < 1000; ++i) {
    all += std::to_string(i % 10);
    buffer.add(all.substr(all.size() - 1));
  }
  CHECK(buffer.total() == 1000);
  CHECK_THAT(buffer.text(),
             Catch::StartsWith("0123456789\n[... ") && Catch::EndsWith(" ...]\n0123456789") && Contains("980 bytes"));
  CHECK(buffer.dropped() == 980);
  OutputBuffer at_once(20);
  at_once.add(all);
  CHECK(at_once.text() == buffer.text());
}

TEST_CASE("bytes that are no text become replacement characters, also where the cut falls into one") {
  OutputBuffer buffer(8);
  buffer.add(
      "\xff"
      "abc");
  CHECK(buffer.text() ==
        "\xEF\xBF\xBD"
        "abc");
  OutputBuffer cut(8);
  cut.add("abc\xc3\xa4 and more of it \xc3\xa4xyz");
  CHECK_THAT(cut.text(), Catch::StartsWith("abc\xEF\xBF\xBD"));
}
