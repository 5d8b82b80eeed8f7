// kernels/uninitialized.h - a vector of floats whose resize() writes no zeros, for buffers that are filled completely
// afterwards. In large buffers, writing zeros would cost as much as writing the numbers.
#pragma once

#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace agon::kernels {

template <typename T>
struct UninitializedAllocator : std::allocator<T> {
  template <typename U>
  struct rebind {                             // NOLINT(readability-identifier-naming): the standard's
    using other = UninitializedAllocator<U>;  // NOLINT(readability-identifier-naming)
  };
  template <typename U>
  void construct(U* place) noexcept {
    ::new (static_cast<void*>(place)) U;
  }
  template <typename U, typename... Arguments>
  void construct(U* place, Arguments&&... arguments) {
    ::new (static_cast<void*>(place)) U(std::forward<Arguments>(arguments)...);
  }
};

// resize(n) leaves new values uninitialized; everything else is as in std::vector<float>.
using UninitializedFloats = std::vector<float, UninitializedAllocator<float>>;

}  // namespace agon::kernels
