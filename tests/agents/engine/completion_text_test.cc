#include "agents/engine/completion_text.h"

#include <catch2/catch.hpp>

#include "core/rng.h"

using agon::Rng;
using agon::agents::CompletionText;

TEST_CASE("completion text: a stop string may cross tokens and ends the text with the match") {
  const std::vector<std::string> stops{"</answer>"};
  CompletionText text(stops);
  CHECK_FALSE(text.append("<answer>4</an"));
  CHECK_FALSE(text.append("swer"));
  CHECK(text.append("> and more"));
  CHECK(text.text() == "<answer>4</answer>");
  CHECK(text.matched_stop() == "</answer>");
}

TEST_CASE("completion text: of several matches the one complete first counts, of these the longest") {
  const std::vector<std::string> stops{"bc", "abcd", "abc"};
  CompletionText text(stops);
  CHECK(text.append("xxabcd"));
  CHECK(text.text() == "xxabc");
  CHECK(text.matched_stop() == "abc");
}

TEST_CASE("completion text: no stop, no end, without stop strings too") {
  const std::vector<std::string> stops{"\n\n"};
  CompletionText text(stops), endless;
  CHECK_FALSE(text.append("a\n"));
  CHECK_FALSE(text.append(" \n"));
  CHECK_FALSE(text.append(""));
  CHECK(text.append("\n"));
  CHECK_FALSE(endless.append("\n\n"));
  CHECK(endless.text() == "\n\n");
  CHECK(endless.matched_stop().empty());
}

TEST_CASE("completion text: characters survive being cut by tokens, what is none becomes U+FFFD") {
  CompletionText text;
  text.append("\xe2\x82");
  text.append("\xac|\xf0\x9f");
  text.append("\x98\x80|\xc0\xaf|\xed\xa0\x80|\xf5|\xe2\x82");
  const std::string bad = "\xef\xbf\xbd";
  CHECK(text.text() ==
        "\xe2\x82\xac|\xf0\x9f\x98\x80|" + bad + bad + "|" + bad + bad + bad + "|" + bad + "|" + bad + bad);
}

TEST_CASE("completion text: equal to a search of the whole text after every token") {
  Rng rng(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> stops(static_cast<std::size_t>(rng.between(1, 3)));
    for (std::string& stop : stops)
      for (int i = rng.between(1, 4); i > 0; --i) stop += static_cast<char>(rng.between('a', 'b'));
    CompletionText text(stops);
    std::string whole, expected;
    bool ended = false;
    while (!ended && whole.size() < 200) {
      std::string token;
      for (int i = rng.between(0, 3); i > 0; --i) token += static_cast<char>(rng.between('a', 'c'));
      whole += token;
      for (std::size_t end = 1; end <= whole.size() && expected.empty(); ++end)
        for (const std::string& stop : stops)
          if (whole.substr(0, end).ends_with(stop)) expected = whole.substr(0, end);
      ended = text.append(token);
      REQUIRE(ended == !expected.empty());
    }
    CHECK(text.text() == (ended ? expected : whole));
  }
}

TEST_CASE("completion text: every token ends where its last whole character does") {
  const std::vector<std::string> stops{"</a>"};
  CompletionText text(stops);
  for (const char* token : {"x", "\xe2\x82", "\xac", "", "\xff", "y</", "a>more"}) text.append(token);
  CHECK(text.text() == "x\xe2\x82\xac\xef\xbf\xbdy</a>");
  CHECK(text.token_ends() == std::vector<std::size_t>{1, 1, 4, 4, 7, 10, 12});
}
