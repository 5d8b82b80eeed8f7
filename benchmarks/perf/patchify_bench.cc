// Speed of kernels/patchify on pictures of several sizes, in GB/s of bytes read and floats written. Each run first
// compares the result with the reference.
//   patchify_bench [Google Benchmark's flags]
#include <benchmark/benchmark.h>

#include <cmath>
#include <string>
#include <vector>

#include "kernels/patchify/patchify.h"

using agon::kernels::PatchifyInput;

namespace {

bool equals_reference(const PatchifyInput& in, const std::vector<float>& out) {
  std::vector<float> expected(out.size());
  agon::kernels::reference::patchify(in, expected.data());
  for (std::size_t i = 0; i < out.size(); ++i)
    if (!(std::abs(out[i] - expected[i]) <= 1e-6f + 1e-6f * std::abs(expected[i]))) return false;
  return true;
}

void patchify(benchmark::State& state) {
  const int height = static_cast<int>(state.range(0)), width = static_cast<int>(state.range(1));
  std::vector<std::uint8_t> rgb(static_cast<std::size_t>(height * width * 3));
  for (std::size_t i = 0; i < rgb.size(); ++i) rgb[i] = static_cast<std::uint8_t>(i * 2654435761u >> 24);
  const PatchifyInput in{rgb.data(), height, width, 14, 2, 2, {0.48f, 0.46f, 0.41f}, {0.27f, 0.26f, 0.28f}};
  std::vector<float> out(rgb.size() * 2);
  agon::kernels::patchify(in, out.data());
  if (!equals_reference(in, out)) return state.SkipWithError("differs from the reference");
  for (auto _ : state) {
    agon::kernels::patchify(in, out.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(rgb.size() + out.size() * sizeof(float)));
}
BENCHMARK(patchify)->Args({112, 112})->Args({476, 644})->Args({1092, 1932});

}  // namespace

BENCHMARK_MAIN();
