#include "agents/engine/completion_text.h"

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
  ends_.push_back(bytes_.size());
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
  ends_.back() = end;
  return true;
}

CompletionText::Spelled CompletionText::spell() const {
  Spelled spelled;
  std::size_t at = 0;  // in bytes_
  for (std::size_t token = 0;;) {
    for (; token < ends_.size() && ends_[token] <= at; ++token) spelled.token_ends.push_back(spelled.text.size());
    if (at == bytes_.size()) return spelled;
    const std::string_view rest = std::string_view(bytes_).substr(at);
    const std::size_t length = character_length(rest);
    spelled.text += length > 0 ? rest.substr(0, length) : "\xef\xbf\xbd";
    // A token that ends inside the character ends before it.
    for (; token < ends_.size() && ends_[token] < at + length; ++token)
      spelled.token_ends.push_back(spelled.text.size() - length);
    at += std::max<std::size_t>(1, length);
  }
}

std::string CompletionText::text() const { return spell().text; }
std::vector<std::size_t> CompletionText::token_ends() const { return spell().token_ends; }

}  // namespace agon::agents
