#include "agents/learn/data/trajectory.h"

#include <catch2/catch.hpp>

#include "agents/hub/tokenizer/tokenizer_learner.h"
#include "core/error.h"
#include "core/rng.h"

using agon::agents::CreditSegment;
using agon::agents::segments_of_turn;
using agon::agents::token_segments;
using agon::agents::Tokenizer;
using agon::agents::TokenSegment;
using agon::env::SegmentKind;
using Catch::Matchers::Contains;
using Ids = std::vector<std::int32_t>;

namespace {

const std::vector<std::string> kSpecial = {"<|im_end|>"};
const std::vector<std::string> kTags = {"<answer>", "</answer>", "<score>", "</score>"};

// A tokenizer with a token per byte and `merges` longer tokens learned from `texts`.
std::unique_ptr<Tokenizer> tokenizer_of(const std::vector<std::string>& texts, const std::vector<std::string>& tags,
                                        int merges = 0) {
  const int vocabulary = 256 + static_cast<int>(kSpecial.size() + tags.size()) + merges;
  return Tokenizer::parse(agon::agents::learn_tokenizer(texts, vocabulary, kSpecial, tags), "test");
}

Ids with_end(const Tokenizer& tokenizer, const std::string& text) {
  Ids ids = tokenizer.encode(text);
  ids.push_back(*tokenizer.id_of("<|im_end|>"));
  return ids;
}

}  // namespace

TEST_CASE("tokens of a turn lie in the segments of its text, the end-of-turn token in the last one", "[trajectory]") {
  const auto tokenizer = tokenizer_of({}, kTags);
  const std::string text = "red 4\n\nblue 5\n\n<answer>9</answer>\n<score>0.5</score>";
  const auto segments = segments_of_turn(text, with_end(*tokenizer, text), *tokenizer, 1);
  REQUIRE(segments == std::vector<CreditSegment>{{SegmentKind::step, 7, 1},
                                                 {SegmentKind::step, 8, 1},
                                                 {SegmentKind::answer, 3, 1},
                                                 {SegmentKind::score, 7, 1}});
  const std::string silent = "<answer>9</answer>";
  REQUIRE(segments_of_turn(silent, with_end(*tokenizer, silent), *tokenizer, 0) ==
          std::vector<CreditSegment>{{SegmentKind::answer, 4, 0}});
}

TEST_CASE("the rule of steps is the caller's", "[trajectory]") {
  const auto tokenizer = tokenizer_of({}, kTags);
  const std::string text = "a. b\nc";
  const Ids ids = tokenizer->encode(text);
  REQUIRE(segments_of_turn(text, ids, *tokenizer, 0).size() == 1);
  REQUIRE(segments_of_turn(text, ids, *tokenizer, 0, agon::env::StepRule::newline).size() == 2);
  const auto parts = token_segments(text, ids, *tokenizer, agon::env::StepRule::sentence);
  REQUIRE(parts.size() == 3);
  REQUIRE(parts[1].segment.step == 1);
  REQUIRE(parts[1].segment.span.of(text) == "b\n");
  REQUIRE(std::pair(parts[1].begin, parts[1].end) == std::pair(3, 5));
}

TEST_CASE("a turn without text is one answer, without tokens it has no segment", "[trajectory]") {
  const auto tokenizer = tokenizer_of({}, kTags);
  REQUIRE(segments_of_turn("", with_end(*tokenizer, ""), *tokenizer, 0) ==
          std::vector<CreditSegment>{{SegmentKind::answer, 1, 0}});
  REQUIRE(segments_of_turn("", {}, *tokenizer, 0).empty());
}

TEST_CASE("a token belongs to the segment in which its first byte lies", "[trajectory]") {
  const std::string text = "<answer>4</answer>\n\n<score>0.5</score>";
  const auto tokenizer = tokenizer_of(std::vector<std::string>(8, text), {}, 40);  // tags are text here
  const Ids ids = tokenizer->encode(text);
  const auto parts = token_segments(text, ids, *tokenizer);
  REQUIRE(parts.size() == 2);
  REQUIRE(tokenizer->token_bytes(ids[static_cast<std::size_t>(parts[0].end - 1)]) == ">\n\n");  // half of it is score
  REQUIRE(parts[1].segment.kind == SegmentKind::score);
}

TEST_CASE("text cut at a stop string and bytes that are no character keep their tokens", "[trajectory]") {
  const auto tokenizer = tokenizer_of({"ab", "ab", "ab"}, kTags, 1);
  const Ids cut = tokenizer->encode("x ab");  // the last token is "ab", and the stop string was "a"
  REQUIRE(segments_of_turn("x a", cut, *tokenizer, 0) == std::vector<CreditSegment>{{SegmentKind::step, 3, 0}});

  const Ids ids = tokenizer->encode("\xef\xbf\xbd <answer>\xef\xbf\xbd</answer>");
  Ids broken(ids.begin(), ids.begin() + 1);  // the first byte of a three-byte character, twice
  broken.push_back(ids.front());
  broken.insert(broken.end(), ids.begin() + 3, ids.end());
  const std::string text = "\xef\xbf\xbd\xef\xbf\xbd <answer>\xef\xbf\xbd</answer>";
  REQUIRE(segments_of_turn(text, broken, *tokenizer, 0) ==
          std::vector<CreditSegment>{{SegmentKind::step, 3, 0}, {SegmentKind::answer, 5, 0}});
}

TEST_CASE("tokens that spell another text are refused", "[trajectory]") {
  const auto tokenizer = tokenizer_of({}, kTags);
  const Ids ids = tokenizer->encode("seven");
  REQUIRE_THROWS_WITH(segments_of_turn("sever", ids, *tokenizer, 0), Contains("from byte 4"));
  REQUIRE_THROWS_WITH(segments_of_turn("seven!", ids, *tokenizer, 0), Contains("spell 5 bytes of a turn that has 6"));
}

TEST_CASE("every token lies in exactly one segment, whatever the policy wrote", "[trajectory]") {
  const auto tokenizer = tokenizer_of({"</answer>\n\n", "</answer>\n\n", "<answer>", "<answer>"}, kTags, 20);
  agon::Rng rng(5);
  const std::vector<std::string> pieces = {"<think>",  "</think>", "<answer>", "</answer>", "<score>",   "0.5", "\n\n",
                                           "red is 4", ". ",       "é",        "<search>",  "</search>", "\xff"};
  for (int i = 0; i < 300; ++i) {
    std::string text;
    for (int n = rng.between(0, 12); n > 0; --n) text += rng.pick(pieces);
    const Ids ids = with_end(*tokenizer, text);
    std::string spelled;
    for (const std::int32_t id : ids)
      if (!tokenizer->is_special(id)) spelled += tokenizer->token_bytes(id);
    int token = 0;
    for (const TokenSegment& part : token_segments(spelled, ids, *tokenizer)) {
      REQUIRE(part.begin == token);
      REQUIRE(part.end > part.begin);
      token = part.end;
    }
    REQUIRE(token == static_cast<int>(ids.size()));
  }
}

TEST_CASE("an episode as credit sees it", "[trajectory]") {
  const auto tokenizer = tokenizer_of({}, kTags);
  agon::record::Episode episode;
  episode.success = true;
  episode.score = 0.5;
  for (const char* text : {"<answer>8</answer>", "<answer>9</answer><score>0.5</score>"}) {
    agon::record::Turn& turn = episode.turns.emplace_back();
    turn.text = text;
    turn.token_ids = with_end(*tokenizer, text);
    turn.finish_reason = "stop";
    turn.facts.turn_correct = turn.text.find('9') != std::string::npos;
    turn.reward = {0.5, {{"accuracy", 0.5}}};
  }
  const auto rollout = agon::agents::credit_rollout(episode, *tokenizer, {{"accuracy", 2}});
  REQUIRE(rollout.answer_reward == 2);
  REQUIRE(rollout.correct);
  REQUIRE(rollout.score == 0.5);
  REQUIRE(rollout.turn_correct == std::vector<bool>{false, true});
  REQUIRE(rollout.segments == std::vector<CreditSegment>{{SegmentKind::answer, 4, 0},
                                                         {SegmentKind::answer, 3, 1},
                                                         {SegmentKind::score, 6, 1}});
  REQUIRE_FALSE(rollout.truncated);
  episode.turns[0].finish_reason = "length";
  REQUIRE(agon::agents::credit_rollout(episode, *tokenizer, {}).truncated);
  episode.turns[0].finish_reason = "stop";
  episode.turns.pop_back();
  REQUIRE(agon::agents::credit_rollout(episode, *tokenizer, {}).turn_correct == std::vector<bool>{false});
  episode.turns[0].full_context = {900, 512};
  const auto cut = agon::agents::credit_rollout(episode, *tokenizer, {});
  REQUIRE(cut.turn_correct == std::vector<bool>{false, false});
  REQUIRE(cut.truncated);
}
