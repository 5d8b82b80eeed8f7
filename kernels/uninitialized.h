// kernels/uninitialized.h - vectors that grow without zeros first, for numbers that are all written afterwards: zeros
// cost as much as the numbers where they are many.
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

// resize(n) leaves new values as they are in memory; all else is as of std::vector<float>.
using UninitializedFloats = std::vector<float, UninitializedAllocator<float>>;

}  // namespace agon::kernels
