#include "critic/verdict_text.h"

#include <fmt/format.h>

#include "core/text.h"

namespace agon::critic {
namespace {

constexpr std::string_view kOpen = "<Answer>", kClose = "</Answer>";
constexpr std::size_t kShown = 60;  // bytes of a word that is none

}  // namespace

VerdictText parse_verdict(std::string_view text) {
  const std::size_t open = text.find(kOpen), close = text.find(kClose);
  if (open == std::string_view::npos || close == std::string_view::npos || close < open + kOpen.size())
    return {Judgement::invalid, {}, "no <Answer>...</Answer>"};
  const env::Span answer{open + kOpen.size(), close};
  const std::string word = to_lower(answer.of(text));
  if (word == "correct") return {Judgement::correct, answer, {}};
  if (word == "incorrect") return {Judgement::incorrect, answer, {}};
  return {Judgement::invalid, answer, fmt::format("'{}' is neither Correct nor Incorrect", word.substr(0, kShown))};
}

}  // namespace agon::critic
