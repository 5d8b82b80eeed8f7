#include "agents/hub/name_pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>

#include "core/error.h"

namespace agon::agents {
namespace {

constexpr std::uint32_t kMostSteps = 1'000'000, kMostDepth = 10'000, kMostKibibytes = 4096;

std::string reason_of(int code) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

}  // namespace

NamePattern::NamePattern(const std::string& text) {
  int fault = 0;
  PCRE2_SIZE place = 0;
  pcre2_code* const code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                    PCRE2_UTF | PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_NEVER_BACKSLASH_C, &fault, &place, nullptr);
  if (!code) throw Error("'{}' is not a regular expression: {} at character {}", text, reason_of(fault), place);
  code_ = std::shared_ptr<const void>(code, [code](const void*) { pcre2_code_free(code); });
}

bool NamePattern::matches(std::string_view name) const {
  const auto* const code = static_cast<const pcre2_code*>(code_.get());
  const std::unique_ptr<pcre2_match_context, decltype(&pcre2_match_context_free)> limits(
      pcre2_match_context_create(nullptr), pcre2_match_context_free);
  const std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)> found(
      pcre2_match_data_create_from_pattern(code, nullptr), pcre2_match_data_free);
  if (!limits || !found) throw std::bad_alloc();
  pcre2_set_match_limit(limits.get(), kMostSteps);
  pcre2_set_depth_limit(limits.get(), kMostDepth);
  pcre2_set_heap_limit(limits.get(), kMostKibibytes);
  return pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(name.data()), name.size(), 0, 0, found.get(), limits.get()) >=
         0;
}

}  // namespace agon::agents
