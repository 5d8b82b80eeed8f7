#include "env/grading/visual_arft.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "env/grading/published_rules.h"
#include "env/grading/single_rules.h"
#include "env/protocol.h"

namespace agon::env {
namespace {

using Names = std::vector<std::string>;

std::string opening(Tag tag) { return '<' + std::string(name_of(tag)) + '>'; }
std::string closing(Tag tag) { return "</" + std::string(name_of(tag)) + '>'; }
bool opens(std::string_view text, Tag tag) { return text.find(opening(tag)) != text.npos; }

bool opens_twice(std::string_view text, Tag tag) {
  const std::string tag_text = opening(tag);
  const std::size_t first = text.find(tag_text);
  return first != text.npos && text.find(tag_text, first + 1) != text.npos;
}

// The trimmed text in the tag; the whole turn if it has no such tag, or if the tag spans lines and `span_lines` is
// false.
std::string_view said(std::string_view turn, Tag tag, bool span_lines) {
  const std::string open = opening(tag), end = closing(tag);
  std::size_t close = 0, line = 0;  // the first of each after `begin`; searched again only once passed
  for (std::size_t at = turn.find(open); at != turn.npos; at = turn.find(open, at + 1)) {
    const std::size_t begin = at + open.size();
    if (close < begin) close = turn.find(end, begin);
    if (close == turn.npos) break;
    if (line < begin) line = turn.find('\n', begin);
    if (span_lines || line > close) return trim(turn.substr(begin, close - begin));
  }
  return trim(turn);
}

double answer_accuracy(std::string_view turn, std::string_view expert, const VisualArftRules& rules) {
  const std::string_view answer = said(turn, Tag::answer, rules.answers_span_lines);
  return token_f1(answer, said(expert, Tag::answer, rules.answers_span_lines), Overlap::set);
}

bool are_equal_numbers(std::string_view turn, std::string_view expert) {
  const std::string_view answer = said(turn, Tag::answer, true), gold = said(expert, Tag::answer, true);
  return number_match(answer, gold);
}

double query_accuracy(std::string_view turn, std::string_view expert, const VisualArftRules& rules,
                      const TextSimilarity& similarity) {
  const bool span_lines = rules.answers_span_lines;
  const double alike =
      similarity.similarity(said(turn, Tag::search, span_lines), said(expert, Tag::search, span_lines));
  return alike < rules.least_similarity ? 0 : std::max(alike, 0.0);
}

bool is_python_block(std::string_view code) {
  constexpr std::string_view kFence = "```python";
  code = trim(code);
  return code.starts_with(kFence) && code.find("```", kFence.size()) != code.npos;
}

double code_accuracy(std::string_view turn, const VisualArftRules& rules) {
  const auto code = first_tag(turn, Tag::code);
  return !rules.code_is_block || (code && is_python_block(code->of(turn))) ? rules.code : 0;
}

// Where the white space from `at` on ends.
std::size_t after_white_space(std::string_view text, std::size_t at) {
  while (at < text.size() && trim(text.substr(at, 1)).empty()) ++at;
  return at;
}

// The first } from `from` on that is followed by </problem>, ignoring white space.
std::size_t closing_brace(std::string_view turn, std::size_t from) {
  const std::string end = closing(Tag::problem);
  for (std::size_t close = turn.find('}', from); close != turn.npos; close = turn.find('}', close + 1))
    if (turn.substr(after_white_space(turn, close + 1)).starts_with(end)) return close;
  return turn.npos;
}

// The text in the braces of the first <problem> {..} </problem>.
std::optional<std::string_view> braced(std::string_view turn) {
  const std::string begin = opening(Tag::problem);
  std::size_t close = 0;
  for (std::size_t at = turn.find(begin); at != turn.npos; at = turn.find(begin, at + 1)) {
    const std::size_t brace = after_white_space(turn, at + begin.size());
    if (brace == turn.size() || turn[brace] != '{') continue;
    if (close < brace) close = closing_brace(turn, brace);
    if (close == turn.npos) break;
    return turn.substr(brace + 1, close - brace - 1);
  }
  return std::nullopt;
}

// The names between single quotes, sorted.
Names problem_names(std::string_view turn, const VisualArftRules& rules) {
  Names names;
  const std::string_view text = braced(turn).value_or("");
  for (std::size_t at = text.find('\''); at != text.npos; at = text.find('\'', at)) {
    const std::size_t end = text.find('\'', at + 1);
    if (end == text.npos) break;
    if (end > at + 1) names.emplace_back(text.substr(at + 1, end - at - 1));
    at = end > at + 1 ? end + 1 : end;  // '' is empty: its second quote may open a name
  }
  if (rules.plain_rotation)
    std::replace(names.begin(), names.end(), std::string("rotation"), std::string("rotation90"));
  std::sort(names.begin(), names.end());
  return names;
}

double problem_accuracy(const Names& named, const Names& expert) {
  if (named == expert) return 1;
  if (expert.size() != 2 || named.size() != 1) return 0;
  for (const char* rotation : {"rotation90", "rotation180"})  // the first of these that the expert names counts
    if (std::count(expert.begin(), expert.end(), rotation)) return named.front() == rotation ? 0.5 : 0;
  return 0;
}

// The content of the tag in a turn of <think>..</think>, white space, and the tag, which closes at the end of the turn.
std::optional<std::string_view> thought_and(std::string_view turn, Tag tag) {
  const std::string begin = opening(tag), end = closing(tag);
  const std::size_t at = turn.find(begin);
  if (at == turn.npos || !turn.starts_with(opening(Tag::think)) || !turn.ends_with(end)) return std::nullopt;
  if (turn.size() < at + begin.size() + end.size()) return std::nullopt;
  std::string_view thought = turn.substr(0, at);
  while (!thought.empty() && trim(thought.substr(thought.size() - 1)).empty()) thought.remove_suffix(1);
  if (thought.size() < opening(Tag::think).size() + closing(Tag::think).size() ||
      !thought.ends_with(closing(Tag::think)))
    return std::nullopt;
  return turn.substr(at + begin.size(), turn.size() - at - begin.size() - end.size());
}

// {'name', 'name', ..}
bool is_set_of_names(std::string_view text) {
  text = trim(text);
  if (text.size() < 2 || text.front() != '{' || text.back() != '}') return false;
  text = trim(text.substr(1, text.size() - 2));
  while (text.starts_with('\'')) {
    const std::size_t end = text.find('\'', 1);
    if (end == text.npos || end == 1) return false;
    text = trim(text.substr(end + 1));
    if (text.empty()) return true;
    if (text.front() != ',') return false;
    text = trim(text.substr(1));
  }
  return false;
}

bool is_formed(std::string_view turn, Tag tag) {
  const auto content = thought_and(turn, tag);
  if (!content) return false;
  if (tag == Tag::code) return is_python_block(*content);
  return tag != Tag::problem || is_set_of_names(*content);
}

Reward reward_of(double accuracy, bool formed) {
  return {accuracy + formed, {{"accuracy", accuracy}, {"format", formed}}};
}

// The first of `tags` that the expert's turn opens.
std::optional<Tag> kind_of(std::string_view expert, std::initializer_list<Tag> tags) {
  for (const Tag tag : tags)
    if (opens(expert, tag)) return tag;
  return std::nullopt;
}

bool any_twice(std::string_view turn, std::initializer_list<Tag> tags) {
  return std::any_of(tags.begin(), tags.end(), [&](Tag tag) { return opens_twice(turn, tag); });
}

}  // namespace

VisualArftRules visual_arft_rules(const std::string& preset) {
  if (preset == "paper") return {};
  if (preset == "official_code") return {0.9, false, 0.5, false, false, true};
  throw Error("{}", unknown_name_message("reward: preset", preset, {"official_code", "paper"}));
}

Reward search_turn_reward(std::string_view turn, std::string_view expert, const VisualArftRules& rules,
                          const TextSimilarity& similarity) {
  const bool formed = !any_twice(turn, {Tag::think, Tag::search, Tag::answer}) &&
                      (is_formed(turn, Tag::answer) || is_formed(turn, Tag::search));
  const auto kind = kind_of(expert, {Tag::answer, Tag::search});
  double accuracy = 0;
  if (kind == Tag::answer && rules.numbers_are_equal && are_equal_numbers(turn, expert))
    accuracy = 1;
  else if (kind == Tag::answer && !opens(turn, Tag::search))
    accuracy = answer_accuracy(turn, expert, rules);
  else if (kind == Tag::search && !opens(turn, Tag::answer))
    accuracy = query_accuracy(turn, expert, rules, similarity);
  return reward_of(accuracy, formed);
}

Reward code_turn_reward(std::string_view turn, std::string_view expert, const VisualArftRules& rules) {
  const auto kind = kind_of(expert, {Tag::answer, Tag::code, Tag::problem});
  if (!kind) return reward_of(0, false);
  const bool formed = !any_twice(turn, {Tag::think, Tag::answer, Tag::code, Tag::problem}) && is_formed(turn, *kind);
  for (const Tag other : {Tag::answer, Tag::code, Tag::problem})
    if (other != *kind && opens(turn, other)) return reward_of(0, formed);
  if (kind == Tag::answer) return reward_of(answer_accuracy(turn, expert, rules), formed);
  if (kind == Tag::code) return reward_of(code_accuracy(turn, rules), formed);
  return reward_of(problem_accuracy(problem_names(turn, rules), problem_names(expert, rules)), formed);
}

}  // namespace agon::env
