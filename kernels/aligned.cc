#include "kernels/aligned.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace agon::kernels {
namespace {

constexpr std::size_t kLine = 64, kHugePage = std::size_t{2} << 20;

std::size_t rounded_up(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; }

std::size_t in_pages(std::size_t bytes) {
  static const auto kPage = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return rounded_up(bytes, kPage);
}

bool is_mapped(std::size_t bytes) { return bytes >= kHugePage; }

// Maps memory that begins on a huge page. The surplus before and after it is unmapped again.
void* map(std::size_t bytes) {
  bytes = in_pages(bytes);
  void* const mapped =
      ::mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  auto* const first = static_cast<char*>(mapped);
  const std::size_t before =
      rounded_up(reinterpret_cast<std::uintptr_t>(first), kHugePage) - reinterpret_cast<std::uintptr_t>(first);
  if (before > 0) ::munmap(first, before);
  if (before < kHugePage) ::munmap(first + before + bytes, kHugePage - before);
  ::madvise(first + before, bytes, MADV_HUGEPAGE);  // without huge pages the kernel uses small ones
  return first + before;
}

}  // namespace

void AlignedFloats::Release::operator()(float* memory) const {
  if (is_mapped(bytes))
    ::munmap(memory, in_pages(bytes));
  else
    std::free(memory);
}

AlignedFloats::Memory AlignedFloats::take(std::size_t bytes) {
  if (is_mapped(bytes)) return Memory(static_cast<float*>(map(bytes)), Release{bytes});
  void* const memory = std::aligned_alloc(kLine, bytes);
  if (!memory) throw std::bad_alloc();
  std::memset(memory, 0, bytes);
  return Memory(static_cast<float*>(memory), Release{bytes});
}

AlignedFloats::AlignedFloats(const AlignedFloats& other) {
  require(other.size());
  if (memory_) std::memcpy(memory_.get(), other.memory_.get(), size() * sizeof(float));
}

void AlignedFloats::require(std::size_t count) {
  if (count <= size()) return;
  if (count > SIZE_MAX / 2 / sizeof(float)) throw std::bad_alloc();
  Memory larger = take(rounded_up(count * sizeof(float), kLine));
  if (memory_) std::memcpy(larger.get(), memory_.get(), size() * sizeof(float));
  memory_ = std::move(larger);
}

}  // namespace agon::kernels
