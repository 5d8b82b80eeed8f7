// env/protocol.h - what a policy writes: tags, boxed answers, steps, and the segment of every byte of a turn. Pure
// functions over UTF-8 text; nothing here throws for any input.
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

// Content of the first / last well-formed <tag>...</tag>, not trimmed. The content may hold anything, line breaks too.
std::optional<Span> first_tag(std::string_view text, Tag tag);
std::optional<Span> last_tag(std::string_view text, Tag tag);
// Content of the last \boxed{...} with its braces matched.
std::optional<Span> last_boxed(std::string_view text);
// The answer as graders want it: the last <answer>, else the last \boxed{}; trimmed. Nothing if there is neither.
std::optional<std::string> extract_answer(std::string_view text);
// The last <score>: a number in [0, 1]; anything else is no score.
std::optional<double> extract_score(std::string_view text);

enum class StepRule { blank_line, newline, sentence };  // sentence: period + space
// The steps of a text in order, separators and surrounding white space left out, none empty.
std::vector<Span> split_steps(std::string_view text, StepRule rule = StepRule::blank_line);

enum class SegmentKind { think, step, answer, score, tool };
std::string_view to_string(SegmentKind kind);
struct Segment {
  SegmentKind kind;
  int step = -1;  // number of the step, from 0, for kind step (and think when it is parted into steps: see below)
  Span span;
  bool operator==(const Segment&) const = default;
};
// Parts the whole turn: every byte lies in exactly one segment, in order. Rules:
//  - <think>..</think> (tags included) is `think`, `step` numbering the steps inside it by `rule`;
//  - text outside tags and before the answer is `step` k by `rule`, separators belonging to the step that they end;
//  - <search>, <code>, <problem> with their tags are `tool`;
//  - everything up to the end of the last </answer> that is not one of these, from its <answer> on, is `answer`;
//  - all bytes after the last </answer> are `score` (methods.md 9.7); without </answer>, from the first <score> on;
//    without both there is no score segment.
std::vector<Segment> segment_turn(std::string_view turn, StepRule rule = StepRule::blank_line);

}  // namespace agon::env
