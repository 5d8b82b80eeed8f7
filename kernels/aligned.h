// kernels/aligned.h - a block of floats that begins on a 64-byte line, zero-filled. Owns its memory; grows only.
#pragma once

#include <cstddef>
#include <vector>

namespace agon::kernels {

class AlignedFloats {
 public:
  AlignedFloats() = default;
  explicit AlignedFloats(std::size_t count) { require(count); }
  void require(std::size_t count) {  // room for `count` floats; growing keeps what is there
    if (count > size()) lines_.resize((count + kLine - 1) / kLine);
  }
  std::size_t size() const { return lines_.size() * kLine; }
  float* data() { return lines_.empty() ? nullptr : lines_.data()->values; }
  const float* data() const { return lines_.empty() ? nullptr : lines_.data()->values; }

 private:
  static constexpr std::size_t kLine = 16;
  struct alignas(64) Line {
    float values[kLine] = {};
  };
  std::vector<Line> lines_;
};

}  // namespace agon::kernels
