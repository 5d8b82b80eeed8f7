// env/protocol.h - parses what a policy writes: tags, boxed answers and steps. It also assigns every byte of a turn to
// a segment. Pure functions over UTF-8 text; no text makes them throw.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agon::env {

// Half-open byte range of a text.
struct Span {
  std::size_t begin = 0, end = 0;
  bool operator==(const Span&) const = default;
  std::string_view of(std::string_view text) const { return text.substr(begin, end - begin); }
};

enum class Tag { think, answer, score, search, code, problem };
std::string_view name_of(Tag tag);
std::string wrap(Tag tag, std::string_view content);  // "<answer>7</answer>"

// Content of the first / last <tag>...</tag>, not trimmed: from a <tag> to the next </tag>, with pairs matched from the
// left without overlap. The content may be any text, line breaks included.
std::optional<Span> first_tag(std::string_view text, Tag tag);
std::optional<Span> last_tag(std::string_view text, Tag tag);
// Content of the last \boxed{...} with its braces matched.
std::optional<Span> last_boxed(std::string_view text);
// The answer for the grader: the content of the last <answer>, else of the last \boxed{}, trimmed. Nothing if there is
// neither.
std::optional<std::string> extract_answer(std::string_view text);
// The last <score>: a number in [0, 1]; anything else is not a score.
std::optional<double> extract_score(std::string_view text);

// The turn without the text after its last </answer>, where the policy writes its score. A score is not part of a step.
std::string_view without_score(std::string_view text);

enum class StepRule { blank_line, newline, sentence };  // sentence: a newline, or period + space; the period stays
StepRule parse_step_rule(const std::string& name);      // throws Error naming the nearest
// The steps of a text in order, without separators and surrounding white space; none is empty.
std::vector<Span> split_steps(std::string_view text, StepRule rule = StepRule::blank_line);

enum class SegmentKind { think, step, answer, score, tool };
std::string_view to_string(SegmentKind kind);
struct Segment {
  SegmentKind kind;
  int step = -1;  // number of the step, from 0, for kinds step and think; see below
  Span span;
  bool operator==(const Segment&) const = default;
};
// Splits the whole turn: every byte lies in exactly one segment, in order. Rules:
//  - all bytes after the last </answer> are `score`; without </answer>, from the first <score> on;
//    without both there is no score segment. Before that point, from left to right:
//  - <think>..</think> (tags included) is `think`, one segment for each step inside it by `rule`;
//  - <search>, <code>, <problem> with their tags are `tool`, <answer>..</answer> is `answer`;
//  - other text is `step` by `rule`; an unclosed tag is text;
//  - steps are numbered through the turn, in think and in other text alike (-1: not a step); a separator belongs to the
//    step that it ends; bare white space belongs to the segment before it, or at the start to the one after it.
std::vector<Segment> segment_turn(std::string_view turn, StepRule rule = StepRule::blank_line);

}  // namespace agon::env
