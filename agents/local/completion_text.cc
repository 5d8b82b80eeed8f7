#include "agents/local/completion_text.h"

#include <algorithm>

namespace agon::agents {
namespace {

// Length of the valid character at the beginning of `text`, 0 if there is none (Unicode 15, table 3-7).
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xc0u) == 0x80u; };
  const unsigned lead = byte(0), second = byte(1);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf && follows(1)) return 2;
  if (lead >= 0xe0 && lead <= 0xef && follows(1) && follows(2)) {
    const bool overlong = lead == 0xe0 && second < 0xa0, surrogate = lead == 0xed && second > 0x9f;
    return overlong || surrogate ? 0 : 3;
  }
  if (lead >= 0xf0 && lead <= 0xf4 && follows(1) && follows(2) && follows(3)) {
    const bool overlong = lead == 0xf0 && second < 0x90, too_large = lead == 0xf4 && second > 0x8f;
    return overlong || too_large ? 0 : 4;
  }
  return 0;
}

}  // namespace

bool CompletionText::append(std::string_view token_bytes) {
  const std::size_t before = bytes_.size();
  bytes_ += token_bytes;
  std::size_t end = std::string::npos;
  for (const std::string& stop : stops_) {
    const std::size_t from = before >= stop.size() ? before - stop.size() + 1 : 0;
    const std::size_t found = bytes_.find(stop, from);
    if (found == std::string::npos) continue;
    const std::size_t stop_end = found + stop.size();
    if (end == std::string::npos || stop_end < end || (stop_end == end && stop.size() > matched_.size())) {
      end = stop_end;
      matched_ = stop;
    }
  }
  if (end == std::string::npos) return false;
  bytes_.resize(end);
  return true;
}

std::string CompletionText::text() const {
  std::string valid;
  for (std::string_view rest = bytes_; !rest.empty();) {
    const std::size_t length = character_length(rest);
    valid += length > 0 ? rest.substr(0, length) : "\xef\xbf\xbd";
    rest.remove_prefix(std::max<std::size_t>(1, length));
  }
  return valid;
}

}  // namespace agon::agents
