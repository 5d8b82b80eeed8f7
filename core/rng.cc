#include "core/rng.h"

#include <bit>
#include <cassert>
#include <cmath>
#include <numbers>
#include <random>

#include "core/hash.h"

namespace agon {
namespace {

std::uint64_t split_mix(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

}  // namespace

Rng::Rng(std::uint64_t seed) {
  for (std::uint64_t& word : state_) word = split_mix(seed);
}

Rng Rng::derive(std::uint64_t root, std::string_view purpose, std::string_view name, std::uint64_t index) {
  std::uint64_t seed = root;
  for (std::uint64_t part : {hash_text(purpose), hash_text(name), index}) {
    seed ^= part;
    seed = split_mix(seed);
  }
  return Rng(seed);
}

std::uint64_t Rng::operator()() {
  const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Rng::uniform() { return static_cast<double>((*this)() >> 11) * 0x1.0p-53; }

int Rng::between(int low, int high) {
  assert(low <= high);
  const auto span = static_cast<std::uint64_t>(static_cast<std::int64_t>(high) - low + 1);
  const auto product = static_cast<unsigned __int128>((*this)()) * span;  // Lemire's multiply-shift; bias below 2^-32
  return static_cast<int>(low + static_cast<std::int64_t>(product >> 64));
}

double Rng::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

std::uint64_t fresh_seed() {
  // The device is slow to open, so each thread asks it only once.
  thread_local Rng seeds([] {
    std::random_device device;
    return static_cast<std::uint64_t>(device()) << 32 | device();
  }());
  return seeds();
}

}  // namespace agon
