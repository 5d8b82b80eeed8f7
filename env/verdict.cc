#include "env/verdict.h"

#include <fmt/format.h>

#include <cassert>

#include "core/text.h"

namespace agon::env {
namespace {

constexpr std::string_view kOpen = "<Answer>", kClose = "</Answer>";
constexpr std::size_t kShown = 60;  // bytes of a word that is none

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
  const Span word{open + kOpen.size(), close};
  const std::string said = to_lower(word.of(text));
  for (const StepVerdict verdict : {StepVerdict::correct, StepVerdict::incorrect})
    if (said == to_lower(word_of(verdict))) return {verdict, word, {}};
  return {StepVerdict::invalid, word, fmt::format("'{}' is neither Correct nor Incorrect", said.substr(0, kShown))};
}

}  // namespace agon::env
