#include "sandbox/launcher/output_buffer.h"

#include <fmt/format.h>

#include "core/text.h"

namespace agon::sandbox {

void OutputBuffer::add(std::string_view bytes) {
  total_ += static_cast<std::int64_t>(bytes.size());
  const std::string_view first = bytes.substr(0, half_ - std::min(half_, head_.size()));
  head_ += first;
  bytes.remove_prefix(first.size());
  if (bytes.size() > half_) bytes.remove_prefix(bytes.size() - half_);
  // Cut rarely: the tail may grow to twice its size in between.
  tail_ += bytes;
  if (tail_.size() > 2 * half_) tail_.erase(0, tail_.size() - half_);
}

std::string OutputBuffer::text() const {
  std::string_view tail = tail_;
  if (total_ > static_cast<std::int64_t>(head_.size() + tail_.size()) && tail.size() > half_) tail.remove_prefix(tail.size() - half_);
  const std::int64_t gone = total_ - static_cast<std::int64_t>(head_.size() + tail.size());
  if (gone == 0) return valid_utf8(head_ + std::string(tail));
  return valid_utf8(head_) + fmt::format("\n[... {} bytes left out ...]\n", gone) + valid_utf8(std::string(tail));
}

}  // namespace agon::sandbox
