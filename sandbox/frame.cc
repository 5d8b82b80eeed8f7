#include "sandbox/frame.h"

#include <cstdint>
#include <cstring>

namespace agon::sandbox {
namespace {

constexpr std::size_t kHeader = 4;

std::uint32_t read_length(const std::string& bytes) {
  std::uint32_t length = 0;
  for (std::size_t i = 0; i < kHeader; ++i)
    length |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return length;
}

}  // namespace

std::string make_frame(std::string_view payload) {
  std::string frame;
  frame.reserve(kHeader + payload.size());
  for (std::size_t i = 0; i < kHeader; ++i) frame += static_cast<char>(payload.size() >> (8 * i) & 0xff);
  frame += payload;
  return frame;
}

void FrameReader::feed(std::string_view bytes) {
  if (broken_) return;
  held_ += bytes;
  if (held_.size() >= kHeader && read_length(held_) > most_) {
    broken_ = true;
    held_.clear();
  }
}

std::optional<std::string> FrameReader::next() {
  if (broken_ || held_.size() < kHeader) return std::nullopt;
  const std::size_t length = read_length(held_);
  if (length > most_) {
    broken_ = true;
    held_.clear();
    return std::nullopt;
  }
  if (held_.size() < kHeader + length) return std::nullopt;
  std::string payload = held_.substr(kHeader, length);
  held_.erase(0, kHeader + length);
  return payload;
}

}  // namespace agon::sandbox
