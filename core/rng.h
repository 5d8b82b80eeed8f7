// core/rng.h - seeded random streams. Every consumer derives its own stream from a root seed and names, so that a
// result never depends on which thread asked first. Not thread-safe: one stream, one owner. Copying a stream copies its
// future.
//   Rng rng = Rng::derive(root_seed, "sample", task_id, sample_index);
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace agon {

// xoshiro256++ (Blackman and Vigna 2019), state filled by SplitMix64.
class Rng {
 public:
  using result_type = std::uint64_t;  // NOLINT(readability-identifier-naming): the name of a UniformRandomBitGenerator

  explicit Rng(std::uint64_t seed = 0);
  // The stream of (root, purpose, name, index): equal arguments, equal stream; any other argument, an unrelated one.
  static Rng derive(std::uint64_t root, std::string_view purpose, std::string_view name = {}, std::uint64_t index = 0);

  static constexpr std::uint64_t min() { return 0; }
  static constexpr std::uint64_t max() { return ~std::uint64_t{0}; }
  std::uint64_t operator()();

  double uniform();                // [0, 1), 53 bits
  int between(int low, int high);  // low..high, both included. REQUIRES: low <= high
  double normal();                 // mean 0, standard deviation 1
  bool chance(double probability) { return uniform() < probability; }
  template <typename T>
  const T& pick(const std::vector<T>& items) {  // REQUIRES: items not empty
    return items[static_cast<std::size_t>(between(0, static_cast<int>(items.size()) - 1))];
  }
  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i)
      std::swap(items[i - 1], items[static_cast<std::size_t>(between(0, static_cast<int>(i) - 1))]);
  }

 private:
  std::uint64_t state_[4];
};

// A random seed, practically never one that an earlier call returned, in this process or another. Do not use it for
// secrets. Thread-safe.
std::uint64_t fresh_seed();

}  // namespace agon
