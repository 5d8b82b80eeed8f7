#include "env/verdict.h"

#include <fmt/format.h>

#include <cassert>

#include "core/text.h"

namespace agon::env {
namespace {

constexpr std::string_view kOpen = "<Answer>", kClose = "</Answer>";
constexpr std::size_t kShown = 60;  // bytes shown of an invalid verdict

}  // namespace

const char* word_of(StepVerdict verdict) {
  assert(verdict != StepVerdict::invalid);
  return verdict == StepVerdict::correct ? "Correct" : "Incorrect";
}

std::string tagged(StepVerdict verdict) { return fmt::format("{}{}{}", kOpen, word_of(verdict), kClose); }

ParsedVerdict parse_verdict(std::string_view text) {
  const std::size_t open = text.find(kOpen), close = text.find(kClose);
  if (open == std::string_view::npos || close == std::string_view::npos || close < open + kOpen.size())
    return {StepVerdict::invalid, {}, "no <Answer>...</Answer>"};
  const std::string_view between = text.substr(open + kOpen.size(), close - open - kOpen.size());
  const std::string_view trimmed = trim(between);
  const auto begin = trimmed.empty() ? close : static_cast<std::size_t>(trimmed.data() - text.data());
  const Span word{begin, begin + trimmed.size()};
  const std::string said = to_lower(trimmed);
  for (const StepVerdict verdict : {StepVerdict::correct, StepVerdict::incorrect})
    if (said == to_lower(word_of(verdict))) return {verdict, word, {}};
  return {StepVerdict::invalid, word, fmt::format("'{}' is neither Correct nor Incorrect", said.substr(0, kShown))};
}

}  // namespace agon::env
