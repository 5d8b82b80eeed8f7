#include "net/sse.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/rng.h"

using namespace agon;
using namespace agon::net;

namespace {

std::vector<std::string> events_of(std::string_view text, std::size_t piece) {
  EventStream stream;
  std::vector<std::string> events;
  for (std::size_t at = 0; at < text.size(); at += piece)
    stream.feed(text.substr(at, piece), [&](std::string_view data) { events.emplace_back(data); });
  return events;
}

}  // namespace

TEST_CASE("server-sent events come out the same wherever their bytes are cut") {
  const std::string text =
      "\xEF\xBB\xBF"
      "data: first\n\n"
      ": a comment\n\n"
      "event: delta\nid: 7\ndata: two\ndata:lines\n\n"
      "data\n\n"
      "retry: 10\n\n"
      "data: return\r\rdata: both\r\n\r\ndata:  one blank stays\n\n"
      "database: not data\n\n"
      "data: never ended\n";
  const std::vector<std::string> expected{"first", "two\nlines", "", "return", "both", " one blank stays"};
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    CAPTURE(piece);
    REQUIRE(events_of(text, piece) == expected);
  }
}

TEST_CASE("an event that is not complete is held") {
  EventStream stream;
  stream.feed("data: abc\ndata: d", [](std::string_view) { FAIL("nothing is complete"); });
  CHECK(stream.held() == 10);
  stream.feed("\n\n", [](std::string_view data) { CHECK(data == "abc\nd"); });
  CHECK(stream.held() == 0);
}
