#include "env/protocol.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "core/error.h"
#include "core/text.h"

namespace agon::env {
namespace {

struct TagNames {
  std::string_view name, open, close;
};
constexpr std::array<TagNames, 6> kTags = {{
    {"think", "<think>", "</think>"},
    {"answer", "<answer>", "</answer>"},
    {"score", "<score>", "</score>"},
    {"search", "<search>", "</search>"},
    {"code", "<code>", "</code>"},
    {"problem", "<problem>", "</problem>"},
}};
const TagNames& names_of(Tag tag) { return kTags[static_cast<std::size_t>(tag)]; }

// The content of the first <tag>...</tag> at or after `from`.
std::optional<Span> tag_from(std::string_view text, Tag tag, std::size_t from) {
  const auto& [name, open, close] = names_of(tag);
  const std::size_t begin = text.find(open, from);
  if (begin == text.npos) return {};
  const std::size_t end = text.find(close, begin + open.size());
  if (end == text.npos) return {};
  return Span{begin + open.size(), end};
}

// The end of the separator that starts at `at`; `at` itself if none does.
std::size_t separator_end(std::string_view text, std::size_t at, StepRule rule) {
  if (text[at] == '\n' && rule != StepRule::blank_line) return at + 1;
  if (text[at] == '.' && rule == StepRule::sentence && text.substr(at + 1).starts_with(' ')) return at + 2;
  if (text[at] != '\n' || rule != StepRule::blank_line) return at;
  const std::size_t next = text.find_first_not_of(" \t\r", at + 1);
  return next != text.npos && text[next] == '\n' ? next + 1 : at;
}

Span trimmed(std::string_view text, Span span) {
  const std::string_view part = trim(span.of(text));
  const auto begin = static_cast<std::size_t>(part.data() - text.data());
  return {begin, begin + part.size()};
}

// Finds the tagged blocks of a text from left to right, in linear time for any text.
class BlockScanner {
 public:
  struct Block {
    Tag tag;
    Span span;  // tags included
  };
  explicit BlockScanner(std::string_view text) : text_(text) {}

  // The first block at or after `from`, which never decreases from call to call.
  std::optional<Block> next(std::size_t from) {
    for (;;) {
      Candidate* first = nullptr;
      for (Candidate& candidate : candidates_) {
        if (candidate.open != text_.npos && (candidate.open < from || !candidate.searched)) {
          candidate.open = text_.find(names_of(candidate.tag).open, from);
          candidate.searched = true;
        }
        if (candidate.open != text_.npos && (!first || candidate.open < first->open)) first = &candidate;
      }
      if (!first) return {};
      const auto& [name, open, close] = names_of(first->tag);
      const std::size_t end = text_.find(close, first->open + open.size());
      if (end != text_.npos) return Block{first->tag, {first->open, end + close.size()}};
      first->open = text_.npos;  // never closed again
    }
  }

 private:
  struct Candidate {
    Tag tag;
    std::size_t open = 0;
    bool searched = false;
  };
  std::string_view text_;
  std::array<Candidate, 5> candidates_ = {{{Tag::think}, {Tag::answer}, {Tag::search}, {Tag::code}, {Tag::problem}}};
};

// Collects segments so that each begins where the one before ends.
class Segmenter {
 public:
  Segmenter(std::string_view turn, StepRule rule) : turn_(turn), rule_(rule) {}

  // Splits `span` into steps. `content` is the part of it that holds them, without a surrounding tag.
  void add_steps(SegmentKind kind, Span span, Span content) {
    const std::vector<Span> steps = split_steps(content.of(turn_), rule_);
    if (steps.empty()) return add(kind, -1, span);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const std::size_t end = i + 1 < steps.size() ? content.begin + steps[i + 1].begin : span.end;
      add(kind, count_++, {begin_, end});
    }
  }
  // Bare white space belongs to the segment before it.
  void add_text(Span span) {
    if (span.begin == span.end) return;
    if (!trim(span.of(turn_)).empty()) return add_steps(SegmentKind::step, span, span);
    if (!segments_.empty()) begin_ = segments_.back().span.end = span.end;
  }
  void add(SegmentKind kind, int step, Span span) {
    if (begin_ < span.end) segments_.push_back({kind, step, {begin_, span.end}});
    begin_ = span.end;
  }
  std::vector<Segment> take() {
    if (begin_ < turn_.size()) add(SegmentKind::step, 0, {begin_, turn_.size()});  // nothing but white space
    return std::move(segments_);
  }

 private:
  std::string_view turn_;
  StepRule rule_;
  std::size_t begin_ = 0;  // of the next segment
  int count_ = 0;          // steps so far
  std::vector<Segment> segments_;
};

std::size_t score_begin(std::string_view turn) {
  const std::string_view close = names_of(Tag::answer).close;
  if (const std::size_t last = turn.rfind(close); last != turn.npos) return last + close.size();
  return std::min(turn.find(names_of(Tag::score).open), turn.size());
}

}  // namespace

std::string_view name_of(Tag tag) { return names_of(tag).name; }

std::string wrap(Tag tag, std::string_view content) {
  std::string text(names_of(tag).open);
  return text.append(content).append(names_of(tag).close);
}

std::optional<Span> first_tag(std::string_view text, Tag tag) { return tag_from(text, tag, 0); }

std::optional<Span> last_tag(std::string_view text, Tag tag) {
  std::optional<Span> last;
  std::size_t from = 0;
  while (const auto found = tag_from(text, tag, from)) {
    last = found;
    from = found->end + names_of(tag).close.size();
  }
  return last;
}

std::optional<Span> last_boxed(std::string_view text) {
  constexpr std::string_view kBoxed = "\\boxed";
  std::vector<std::size_t> open;  // positions after the open braces
  std::optional<Span> last;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '{') open.push_back(at + 1);
    if (text[at] != '}' || open.empty()) continue;
    const std::size_t begin = open.back();
    open.pop_back();
    if (text.substr(0, begin - 1).ends_with(kBoxed) && (!last || begin > last->begin)) last = Span{begin, at};
  }
  return last;
}

std::optional<std::string> extract_answer(std::string_view text) {
  auto span = last_tag(text, Tag::answer);
  if (!span) span = last_boxed(text);
  if (!span) return {};
  return std::string(trim(span->of(text)));
}

std::string_view without_score(std::string_view text) {
  constexpr std::string_view kEnd = "</answer>";
  const std::size_t end = text.rfind(kEnd);
  return end == text.npos ? text : text.substr(0, end + kEnd.size());
}

std::optional<double> extract_score(std::string_view text) {
  const auto span = last_tag(text, Tag::score);
  if (!span) return {};
  const std::string_view content = trim(span->of(text));
  double score = 0;
  const auto [end, code] = std::from_chars(content.data(), content.data() + content.size(), score);
  if (code != std::errc() || end != content.data() + content.size() || !(score >= 0 && score <= 1)) return {};
  return score;
}

StepRule parse_step_rule(const std::string& name) {
  static const std::vector<std::string> kNames{"blank_line", "newline", "sentence"};
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) throw Error("{}", unknown_name_message("step rule", name, kNames));
  return static_cast<StepRule>(found - kNames.begin());
}

std::vector<Span> split_steps(std::string_view text, StepRule rule) {
  std::vector<Span> steps;
  const auto add = [&](Span span) {
    if (const Span step = trimmed(text, span); step.begin < step.end) steps.push_back(step);
  };
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = separator_end(text, at, rule);
    if (end > at) {
      add({begin, text[at] == '.' ? at + 1 : at});
      begin = end;
    }
    at = std::max(at + 1, end);
  }
  add({begin, text.size()});
  return steps;
}

std::string_view to_string(SegmentKind kind) {
  constexpr std::array<std::string_view, 5> kNames = {"think", "step", "answer", "score", "tool"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::vector<Segment> segment_turn(std::string_view turn, StepRule rule) {
  const std::size_t boundary = score_begin(turn);
  Segmenter segmenter(turn, rule);
  BlockScanner scanner(turn.substr(0, boundary));
  std::size_t at = 0;
  while (const auto block = scanner.next(at)) {
    segmenter.add_text({at, block->span.begin});
    at = block->span.end;
    const auto& [name, open, close] = names_of(block->tag);
    const Span content{block->span.begin + open.size(), block->span.end - close.size()};
    if (block->tag == Tag::think)
      segmenter.add_steps(SegmentKind::think, block->span, content);
    else
      segmenter.add(block->tag == Tag::answer ? SegmentKind::answer : SegmentKind::tool, -1, block->span);
  }
  segmenter.add_text({at, boundary});
  if (boundary < turn.size()) segmenter.add(SegmentKind::score, -1, {boundary, turn.size()});
  return segmenter.take();
}

}  // namespace agon::env
