// kernels/aligned.h - a zero-filled block of floats that starts on a 64-byte cache line. It owns its memory and only
// grows. Memory of a block of 2 MiB or more is allocated when it is first written, by any thread, and in huge pages if
// the kernel has them.
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
  void require(std::size_t count);  // room for `count` floats; growing keeps the contents; throws std::bad_alloc
  std::size_t size() const { return memory_ ? memory_.get_deleter().bytes / sizeof(float) : 0; }
  float* data() { return memory_.get(); }
  const float* data() const { return memory_.get(); }

 private:
  struct Release {
    std::size_t bytes;  // 0: no memory
    void operator()(float* memory) const;
  };
  using Memory = std::unique_ptr<float[], Release>;
  static Memory take(std::size_t bytes);

  Memory memory_;
};

}  // namespace agon::kernels
