// kernels/aligned.h - a block of floats that begins on a 64-byte line, zero-filled. Owns its memory; grows only. A
// block of 2 MiB or more takes memory when it is first written, by any thread, and in huge pages where the kernel has
// them.
#pragma once

#include <cstddef>
#include <memory>

namespace agon::kernels {

class AlignedFloats {
 public:
  AlignedFloats() = default;
  explicit AlignedFloats(std::size_t count) { require(count); }
  AlignedFloats(const AlignedFloats& other);
  AlignedFloats(AlignedFloats&&) noexcept = default;
  AlignedFloats& operator=(AlignedFloats other) noexcept {
    memory_.swap(other.memory_);
    return *this;
  }
  void require(std::size_t count);  // room for `count` floats; growing keeps what is there; throws std::bad_alloc
  std::size_t size() const { return memory_ ? memory_.get_deleter().bytes / sizeof(float) : 0; }
  float* data() { return memory_.get(); }
  const float* data() const { return memory_.get(); }

 private:
  struct Release {
    std::size_t bytes;  // 0 of none
    void operator()(float* memory) const;
  };
  using Memory = std::unique_ptr<float[], Release>;
  static Memory take(std::size_t bytes);

  Memory memory_;
};

}  // namespace agon::kernels
