#include "failing_memory.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<long> left{-1};  // allocations until one fails; negative: none fails
thread_local bool spared = false;

void* allocate(std::size_t size, std::size_t alignment) {
  if (left.load(std::memory_order_relaxed) >= 0 && !spared && left.fetch_sub(1) == 0) throw std::bad_alloc();
  const std::size_t whole = size == 0 ? alignment : (size + alignment - 1) / alignment * alignment;
  void* const memory =
      alignment > alignof(std::max_align_t) ? std::aligned_alloc(alignment, whole) : std::malloc(whole);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void* allocate_or_null(std::size_t size, std::size_t alignment) noexcept {
  try {
    return allocate(size, alignment);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size, alignof(std::max_align_t)); }
void* operator new[](std::size_t size) { return allocate(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
// All forms are replaced: a form that is left out would be the sanitizer's own, whose memory std::free may not release.
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return allocate_or_null(size, alignof(std::max_align_t));
}
void* operator new[](std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return allocate_or_null(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t& /*tag*/) noexcept {
  return allocate_or_null(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t& /*tag*/) noexcept {
  return allocate_or_null(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t& /*tag*/) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t& /*tag*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t, const std::nothrow_t& /*tag*/) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t, const std::nothrow_t& /*tag*/) noexcept { std::free(memory); }

namespace agon::test {

FailingMemory::FailingMemory(long number) {
  spared = true;
  left = number;
}
FailingMemory::~FailingMemory() {
  left = -1;
  spared = false;
}
bool FailingMemory::has_failed() const { return left < 0; }

void spare_this_thread() { spared = true; }

}  // namespace agon::test
