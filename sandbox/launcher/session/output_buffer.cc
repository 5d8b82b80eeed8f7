#include "sandbox/launcher/session/output_buffer.h"

#include <fmt/format.h>

#include "core/text.h"

namespace agon::sandbox::launcher {

void OutputBuffer::add(std::string_view bytes) {
  total_ += static_cast<std::int64_t>(bytes.size());
  const std::string_view first = bytes.substr(0, half_ - std::min(half_, head_.size()));
  head_ += first;
  bytes.remove_prefix(first.size());
  if (bytes.size() > half_) bytes.remove_prefix(bytes.size() - half_);
  // Cuts rarely: the tail may grow to twice its size in between.
  tail_ += bytes;
  if (tail_.size() > 2 * half_) tail_.erase(0, tail_.size() - half_);
}

// The tail that is kept: all of it as long as nothing was dropped.
std::string_view OutputBuffer::tail() const {
  const std::string_view tail = tail_;
  return total_ > static_cast<std::int64_t>(head_.size() + half_) ? tail.substr(tail.size() - half_) : tail;
}

std::int64_t OutputBuffer::dropped() const { return total_ - static_cast<std::int64_t>(head_.size() + tail().size()); }

std::string OutputBuffer::text() const {
  if (dropped() == 0) return valid_utf8(head_ + tail_);
  return valid_utf8(head_) + fmt::format("\n[... {} bytes left out ...]\n", dropped()) + valid_utf8(tail());
}

}  // namespace agon::sandbox::launcher
