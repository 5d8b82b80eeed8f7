#include "agents/engine/completion_text.h"

#include "core/text.h"

namespace agon::agents {

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
    const Character first = first_character(rest);
    const std::size_t length = first.code_point < 0 ? 0 : first.bytes;
    spelled.text += length > 0 ? rest.substr(0, length) : "\xef\xbf\xbd";
    // A token that ends inside the character ends before it.
    for (; token < ends_.size() && ends_[token] < at + length; ++token)
      spelled.token_ends.push_back(spelled.text.size() - length);
    at += first.bytes;
  }
}

std::string CompletionText::text() const { return spell().text; }
std::vector<std::size_t> CompletionText::token_ends() const { return spell().token_ends; }

}  // namespace agon::agents
