// sandbox/frame.h - messages on a stream socket: four bytes of length (little-endian), then the payload.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace agon::sandbox {

std::string make_frame(std::string_view payload);

// Takes bytes in pieces of any size and returns whole payloads. The other side may be hostile: a length above `most`
// breaks the reader permanently, so it never collects such a payload.
class FrameReader {
 public:
  explicit FrameReader(std::size_t most) : most_(most) {}
  void feed(std::string_view bytes);
  std::optional<std::string> next();
  bool broken() const { return broken_; }
  bool holds_some() const { return !held_.empty(); }  // bytes of an incomplete payload

 private:
  std::size_t most_;
  std::string held_;
  bool broken_ = false;
};

}  // namespace agon::sandbox
