#include "serve/text_stream.h"

#include <catch2/catch.hpp>

#include "agents/engine/completion_text.h"
#include "agents/hub/tokenizer/tokenizer.h"
#include "core/rng.h"
#include "core/text.h"
#include "paths.h"

using namespace agon;
using namespace agon::serve;

TEST_CASE("a stream never cuts a character in two") {
  TextStream stream({}, false);
  CHECK(stream.add("a\xC3") == "a");
  CHECK(stream.add("\xA9") == "\u00e9");
  CHECK(stream.add("\xF0\x9F\x98").empty());
  CHECK(stream.add("\x80!") == "\U0001F600!");
  CHECK(stream.add("\xE2\x82").empty());
  CHECK(stream.add("x") == "\uFFFD\uFFFDx");
  CHECK(stream.add("\xE2").empty());
  CHECK(stream.end("a\u00e9\U0001F600!\uFFFD\uFFFDx\uFFFD") == "\uFFFD");
}

TEST_CASE("a stream of tokens that are bytes never cuts a character in two, and keeps the blank of its first token") {
  const std::string file = test::golden_path("sentencepiece/legacy.json");
  const auto tokenizer = agents::Tokenizer::parse(read_file(file), file);
  const std::string text = "the \u4f60\u597d \U0001f600\U0001f468\u200d\U0001f469 \u0928\u092e\u0938 red";
  TextStream stream({}, false);
  std::string streamed;
  for (const std::int32_t id : tokenizer->encode(text)) {
    const std::string piece = stream.add(tokenizer->token_bytes(id));
    REQUIRE(valid_utf8(piece) == piece);
    REQUIRE(piece.find("\uFFFD") == std::string::npos);
    streamed += piece;
  }
  CHECK(streamed == " " + text);
}

TEST_CASE("a stream holds back what may become a stop string") {
  TextStream stream({"\n\nEND"}, false);
  CHECK(stream.add("one\n") == "one");
  CHECK(stream.add("two\n\n") == "\ntwo");
  CHECK(stream.add("EN").empty());
  CHECK(stream.add("d\n\nE") == "\n\nENd");
  CHECK(stream.add("ND and more").empty());
  CHECK(stream.end("one\ntwo\n\nENd").empty());
  TextStream kept({"stop"}, true);
  CHECK(kept.add("a st") == "a st");
  CHECK(kept.add("op after").empty());
  CHECK(kept.end("a stop") == "op");
}

TEST_CASE("the pieces of a stream are the text, for any tokens and stops") {
  Rng rng(11);
  const std::vector<std::string> bytes{"a",    "b",        "\xC3",     "\xA9", "\xE2",  "\x82",
                                       "\xAC", "\xF0\x9F", "\x98\x80", "ab",   "ba\xC3"};
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::string> stops;
    for (int i = rng.between(0, 2); i > 0; --i)
      stops.push_back(rng.pick(std::vector<std::string>{"ab", "b\u00e9", "\u20ac", "aab", "\u00e9a"}));
    const bool keeps = rng.chance(0.5);
    agents::CompletionText whole(stops);
    TextStream stream(stops, keeps);
    std::string pieces;
    for (int i = 0; i < 12; ++i) {
      const std::string& token = rng.pick(bytes);
      const std::string piece = stream.add(token);
      CHECK(valid_utf8(piece) == piece);
      pieces += piece;
      if (whole.append(token)) break;
    }
    std::string text = whole.text();
    if (!keeps) text.resize(text.size() - whole.matched_stop().size());
    REQUIRE(pieces + stream.end(text) == text);
  }
}
