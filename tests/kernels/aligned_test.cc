#include "kernels/aligned.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <new>
#include <utility>

namespace agon::kernels {

namespace {

bool is_zero(const AlignedFloats& floats, std::size_t begin) {
  return std::all_of(floats.data() + begin, floats.data() + floats.size(), [](float value) { return value == 0; });
}

}  // namespace

TEST_CASE("aligned floats: zeros on a line, whatever their size, and growing keeps what is there") {
  AlignedFloats floats;
  CHECK(floats.data() == nullptr);
  CHECK(floats.size() == 0);
  std::size_t written = 0;
  for (const std::size_t count : {1u, 17u, 1000u, (1u << 19) - 16, 1u << 19, (1u << 19) + 1, 3'000'001u}) {
    CAPTURE(count);
    floats.require(count);
    REQUIRE(floats.size() >= count);
    CHECK(floats.size() < count + 16);
    CHECK(reinterpret_cast<std::uintptr_t>(floats.data()) % 64 == 0);
    for (std::size_t i = 0; i < written; ++i)
      if (floats.data()[i] != static_cast<float>(i % 1000)) FAIL("lost at " << i);
    CHECK(is_zero(floats, written));
    for (std::size_t i = written; i < count; ++i) floats.data()[i] = static_cast<float>(i % 1000);
    written = count;
  }
  floats.require(5);
  CHECK(floats.data()[written - 1] == static_cast<float>((written - 1) % 1000));
}

TEST_CASE("aligned floats: one that was moved from is empty and can be used again") {
  AlignedFloats floats(1 << 20);
  floats.data()[7] = 3;
  AlignedFloats taken = std::move(floats);
  CHECK(taken.data()[7] == 3);
  CHECK(floats.size() == 0);
  floats.require(4);
  CHECK(is_zero(floats, 0));
}

TEST_CASE("aligned floats: a copy has memory of its own") {
  AlignedFloats floats(1 << 20);
  floats.data()[7] = 3;
  AlignedFloats copy = floats, none = AlignedFloats();
  copy.data()[7] = 4;
  CHECK(floats.data()[7] == 3);
  CHECK(copy.size() == floats.size());
  copy = none;
  CHECK(copy.size() == 0);
}

TEST_CASE("aligned floats: a size that no machine has is refused") {
  CHECK_THROWS_AS(AlignedFloats(SIZE_MAX / 8), std::bad_alloc);
  CHECK_THROWS_AS(AlignedFloats(SIZE_MAX / 4), std::bad_alloc);
}

}  // namespace agon::kernels
