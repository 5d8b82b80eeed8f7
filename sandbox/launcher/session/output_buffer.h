// sandbox/launcher/session/output_buffer.h - keeps the head and the tail of what a stream printed, and counts the bytes
// dropped between them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace agon::sandbox::launcher {

class OutputBuffer {
 public:
  explicit OutputBuffer(std::int64_t kept = 64 << 10) : half_(static_cast<std::size_t>(kept) / 2) {}
  void add(std::string_view bytes);
  std::int64_t total() const { return total_; }
  std::int64_t dropped() const;
  std::string text() const;  // valid UTF-8; a line says how much was cut out

 private:
  std::string_view tail() const;
  std::size_t half_;
  std::string head_, tail_;
  std::int64_t total_ = 0;
};

}  // namespace agon::sandbox::launcher
