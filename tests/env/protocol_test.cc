#include "env/protocol.h"

#include <catch2/catch.hpp>

#include "core/rng.h"

using namespace agon;
using namespace agon::env;
using Kind = SegmentKind;

namespace {

const std::vector<std::string> kPieces = {"<think>",
                                          "</think>",
                                          "<answer>",
                                          "</answer>",
                                          "<score>",
                                          "</score>",
                                          "<search>",
                                          "</search>",
                                          "<code>",
                                          "</code>",
                                          "<problem>",
                                          "</problem>",
                                          "\n\n",
                                          "\n",
                                          " ",
                                          ". ",
                                          "red is 4",
                                          "0.5",
                                          "\\boxed{",
                                          "}",
                                          "{",
                                          "\xff",
                                          std::string(1, '\0'),
                                          "é",
                                          "<",
                                          ">",
                                          "</",
                                          "\r\n",
                                          "7"};

std::string random_turn(Rng& rng) {
  std::string text;
  for (int n = rng.between(0, 24); n > 0; --n) text += rng.pick(kPieces);
  return text;
}

struct Piece {
  Kind kind;
  int step;
  std::string text;
  bool operator==(const Piece&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Piece& piece) {
  return out << to_string(piece.kind) << ' ' << piece.step << " '" << piece.text << "'";
}

std::vector<Piece> pieces_of(std::string_view turn, StepRule rule = StepRule::blank_line) {
  std::vector<Piece> pieces;
  for (const Segment& segment : segment_turn(turn, rule))
    pieces.push_back({segment.kind, segment.step, std::string(segment.span.of(turn))});
  return pieces;
}

std::vector<std::string> steps_of(std::string_view text, StepRule rule = StepRule::blank_line) {
  std::vector<std::string> steps;
  for (const Span& span : split_steps(text, rule)) steps.emplace_back(span.of(text));
  return steps;
}

}  // namespace

TEST_CASE("tags pair from the left") {
  const std::string text = "<answer>1</answer> no <answer>2\n3</answer> <answer>4";
  CHECK(first_tag(text, Tag::answer)->of(text) == "1");
  CHECK(last_tag(text, Tag::answer)->of(text) == "2\n3");
  CHECK_FALSE(first_tag(text, Tag::score));
  CHECK_FALSE(first_tag("</answer>5<answer>", Tag::answer));
  CHECK_FALSE(first_tag("<answer >5</answer>", Tag::answer));
  const std::string empty = "<answer></answer>", twice = "<answer>a<answer>b</answer>";
  CHECK(first_tag(empty, Tag::answer)->of(empty).empty());
  CHECK(last_tag(twice, Tag::answer)->of(twice) == "a<answer>b");
}

TEST_CASE("what is wrapped is found") {
  Rng rng(1);
  for (int i = 0; i < 300; ++i) {
    const Tag tag = static_cast<Tag>(rng.between(0, 5));
    const std::string content = random_turn(rng);
    if (content.find("</" + std::string(name_of(tag)) + ">") != content.npos) continue;
    const std::string text = "so " + wrap(tag, content) + " it is";
    INFO(text);
    CHECK(first_tag(text, tag)->of(text) == content);
    CHECK(last_tag(text, tag)->of(text) == content);
  }
}

TEST_CASE("the last boxed content has its braces matched") {
  const auto boxed = [](const std::string& text) -> std::optional<std::string> {
    const auto span = last_boxed(text);
    return span ? std::optional(std::string(span->of(text))) : std::nullopt;
  };
  CHECK(boxed("\\boxed{5}") == "5");
  CHECK(boxed("\\boxed{1} or \\boxed{\\frac{1}{2}}.") == "\\frac{1}{2}");
  CHECK(boxed("\\boxed{1} or \\boxed{2") == "1");
  CHECK(boxed("} \\boxed{a{b}c} {") == "a{b}c");
  CHECK(boxed("\\boxed{}") == "");
  CHECK_FALSE(boxed("boxed{5}"));
  CHECK_FALSE(boxed("\\boxed 5"));
  CHECK_FALSE(boxed(""));
}

TEST_CASE("the answer is the last tag, else the last box, the score the last number in [0, 1]") {
  CHECK(extract_answer("<answer>1</answer> <answer> 2 </answer> \\boxed{3}") == "2");
  CHECK(extract_answer("so \\boxed{ 3 }") == "3");
  CHECK_FALSE(extract_answer("it is 3"));
  CHECK_FALSE(extract_answer("<answer>3"));
  CHECK(extract_answer("<answer></answer>") == "");
  CHECK(extract_score("<score>0.5</score>") == 0.5);
  CHECK(extract_score("<score>0.5</score><score> 1 </score>") == 1.0);
  CHECK(extract_score("<score>0</score>") == 0.0);
  for (const char* text : {"", "0.5", "<score>0.5", "<score></score>", "<score>1.01</score>", "<score>-0.1</score>",
                           "<score>nan</score>", "<score>0.5 or so</score>", "<score>high</score>",
                           "<score>0.5</score><score>?</score>", "<score>1e999</score>"}) {
    INFO(text);
    CHECK_FALSE(extract_score(text));
  }
}

TEST_CASE("steps are parted by the rule, trimmed, none empty") {
  using Strings = std::vector<std::string>;
  CHECK(steps_of("a\nb\n\nc \n \t\n\n\n d") == Strings{"a\nb", "c", "d"});
  CHECK(steps_of("a\r\n\r\nb") == Strings{"a", "b"});
  CHECK(steps_of("\n\n  \n\n").empty());
  CHECK(steps_of("").empty());
  CHECK(steps_of("a\nb\n\nc", StepRule::newline) == Strings{"a", "b", "c"});
  CHECK(steps_of("Red is 4.5. Blue is 3.\nSum e.g. 7.5.", StepRule::sentence) ==
        Strings{"Red is 4.5.", "Blue is 3.", "Sum e.g.", "7.5."});
}

TEST_CASE("a solution is steps, answer and score") {
  CHECK(pieces_of("red is 4\n\nblue is 7\n\n4 + 7 = 11\n\n<answer>11</answer>\n<score>0.9</score>") ==
        std::vector<Piece>{{Kind::step, 0, "red is 4\n\n"},
                           {Kind::step, 1, "blue is 7\n\n"},
                           {Kind::step, 2, "4 + 7 = 11\n\n"},
                           {Kind::answer, -1, "<answer>11</answer>"},
                           {Kind::score, -1, "\n<score>0.9</score>"}});
}

TEST_CASE("think is parted into steps that are numbered on, tags included") {
  CHECK(pieces_of("<think>\none\n\ntwo</think>\n<search>q</search>three\n\n<answer>5</answer>") ==
        std::vector<Piece>{{Kind::think, 0, "<think>\none\n\n"},
                           {Kind::think, 1, "two</think>\n"},
                           {Kind::tool, -1, "<search>q</search>"},
                           {Kind::step, 2, "three\n\n"},
                           {Kind::answer, -1, "<answer>5</answer>"}});
  CHECK(pieces_of("<think>a. b</think>", StepRule::sentence) ==
        std::vector<Piece>{{Kind::think, 0, "<think>a. "}, {Kind::think, 1, "b</think>"}});
  CHECK(pieces_of("<think> </think>x") ==
        std::vector<Piece>{{Kind::think, -1, "<think> </think>"}, {Kind::step, 0, "x"}});
}

TEST_CASE("the score begins behind the last </answer>, else at the first <score>, else nowhere") {
  CHECK(pieces_of("a <score>1</score> <score>2</score>") ==
        std::vector<Piece>{{Kind::step, 0, "a "}, {Kind::score, -1, "<score>1</score> <score>2</score>"}});
  CHECK(pieces_of("<answer>1</answer> wait <answer>2</answer>") ==
        std::vector<Piece>{{Kind::answer, -1, "<answer>1</answer>"},
                           {Kind::step, 0, " wait "},
                           {Kind::answer, -1, "<answer>2</answer>"}});
  CHECK(pieces_of("a</answer> b") == std::vector<Piece>{{Kind::step, 0, "a</answer>"}, {Kind::score, -1, " b"}});
  CHECK(pieces_of("<answer>5") == std::vector<Piece>{{Kind::step, 0, "<answer>5"}});
  CHECK(pieces_of("<answer>5</answer><code>x</code>") ==
        std::vector<Piece>{{Kind::answer, -1, "<answer>5</answer>"}, {Kind::score, -1, "<code>x</code>"}});
}

TEST_CASE("blank text and broken tags are still parted") {
  CHECK(pieces_of("").empty());
  CHECK(pieces_of(" \n\n") == std::vector<Piece>{{Kind::step, 0, " \n\n"}});
  CHECK(pieces_of("\n\n<answer>5</answer>") == std::vector<Piece>{{Kind::answer, -1, "\n\n<answer>5</answer>"}});
  CHECK(pieces_of("<think>a\n\n<answer>5</answer>") ==
        std::vector<Piece>{{Kind::step, 0, "<think>a\n\n"}, {Kind::answer, -1, "<answer>5</answer>"}});
  CHECK(pieces_of("<code>a <search>b</search> c</code>") ==
        std::vector<Piece>{{Kind::tool, -1, "<code>a <search>b</search> c</code>"}});
  CHECK(pieces_of("<problem>{'blur'}</problem>") ==
        std::vector<Piece>{{Kind::tool, -1, "<problem>{'blur'}</problem>"}});
}

TEST_CASE("every byte lies in exactly one segment, in order, for any text") {
  Rng rng(2);
  for (int i = 0; i < 5000; ++i) {
    const std::string turn = random_turn(rng);
    for (StepRule rule : {StepRule::blank_line, StepRule::newline, StepRule::sentence}) {
      std::size_t at = 0;
      int step = 0;
      for (const Segment& segment : segment_turn(turn, rule)) {
        REQUIRE(segment.span.begin == at);
        REQUIRE(segment.span.end > at);
        at = segment.span.end;
        if (segment.step >= 0) REQUIRE(segment.step == step++);
        if (segment.kind == Kind::step) REQUIRE(segment.step >= 0);
      }
      REQUIRE(at == turn.size());
    }
    extract_answer(turn);
    extract_score(turn);
  }
}

TEST_CASE("long hostile text is parted in linear time") {
  for (const std::string piece : {"<think>", "<answer>", "\\boxed{", "\n", "{", "<search></search", "</answer", ". "}) {
    std::string text;
    while (text.size() < 2'000'000) text += piece;
    INFO(piece);
    std::size_t bytes = 0;
    for (const Segment& segment : segment_turn(text, StepRule::newline)) bytes += segment.span.end - segment.span.begin;
    CHECK(bytes == text.size());
    CHECK_FALSE(extract_answer(text));
    CHECK_FALSE(extract_score(text));
  }
}

TEST_CASE("a step ends with its answer, not with the score behind it") {
  CHECK(without_score("<answer>3</answer><score>0.9</score>") == "<answer>3</answer>");
  CHECK(without_score("<answer>3</answer>") == "<answer>3</answer>");
  CHECK(without_score("red is 3") == "red is 3");
  CHECK(without_score("<score>0.9</score>") == "<score>0.9</score>");
  CHECK(without_score("") == "");
}
