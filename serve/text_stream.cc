#include "serve/text_stream.h"

#include <algorithm>

#include "core/text.h"

namespace agon::serve {
namespace {

// Number of bytes at the end that form an incomplete UTF-8 character.
std::size_t open_character(std::string_view bytes) {
  constexpr std::size_t kLongest = 4;
  for (std::size_t length = 1; length < kLongest && length <= bytes.size(); ++length) {
    const auto lead = static_cast<unsigned char>(bytes[bytes.size() - length]);
    if (is_within_character(static_cast<char>(lead))) continue;
    const std::size_t whole = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    return whole > length ? length : 0;
  }
  return 0;
}

}  // namespace

std::size_t TextStream::held_back() const {
  std::size_t held = open_character(waiting_);
  if (keeps_stop_) return held;
  for (const std::string& stop : stops_)
    for (std::size_t length = std::min(stop.size() - 1, waiting_.size()); length > held; --length)
      if (waiting_.ends_with(std::string_view(stop).substr(0, length))) {
        held = length;
        break;
      }
  return held;
}

std::string TextStream::add(std::string_view token_bytes) {
  if (stopped_) return {};
  std::size_t longest = 0;
  for (const std::string& stop : stops_) longest = std::max(longest, stop.size());
  recent_ += token_bytes;
  stopped_ = std::any_of(stops_.begin(), stops_.end(),
                         [this](const std::string& stop) { return recent_.find(stop) != std::string::npos; });
  if (stopped_) return {};
  if (recent_.size() > longest) recent_.erase(0, recent_.size() - longest);
  waiting_ += token_bytes;
  const std::size_t certain = waiting_.size() - held_back();
  const std::string text = valid_utf8(std::string_view(waiting_).substr(0, certain));
  waiting_.erase(0, certain);
  out_ += text.size();
  return text;
}

std::string TextStream::end(std::string_view text) const {
  return std::string(text.substr(std::min(out_, text.size())));
}

}  // namespace agon::serve
