// Speed of turning text and pictures into model inputs, on the files that benchmarks/peers/front.py wrote to FOLDER:
// tokenising (one thread, 4 KB per call) and picture -> patches.
//   front_bench FOLDER [Google Benchmark's flags]
#include <benchmark/benchmark.h>

#include <cstdio>
#include <string>
#include <vector>

#include "agents/hub/pictures/image_processor.h"
#include "agents/hub/tokenizer/tokenizer.h"
#include "core/text.h"

using namespace agon::agents;

namespace {

void tokenise(benchmark::State& state, const Tokenizer& tokenizer, const std::string& text) {
  constexpr std::size_t kCall = 4096;  // bytes
  for (auto _ : state) {
    std::size_t tokens = 0;
    for (std::size_t i = 0; i < text.size(); i += kCall)
      tokens += tokenizer.encode(std::string_view(text).substr(i, kCall)).size();
    state.counters["tokens"] = static_cast<double>(tokens);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

void picture(benchmark::State& state, int width, int height) {
  std::vector<std::uint8_t> rgb(static_cast<std::size_t>(width * height * 3));
  for (std::size_t i = 0; i < rgb.size(); ++i) rgb[i] = static_cast<std::uint8_t>(i * 2654435761u >> 24);
  const agon::Image image(width, height, std::move(rgb));
  for (auto _ : state) benchmark::DoNotOptimize(process_image(image, {}).patches.data());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: front_bench FOLDER   (written by benchmarks/peers/front.py)\n"), 2;
  const std::string folder = argv[1], text = agon::read_file(folder + "/text.txt");
  const auto tokenizer = Tokenizer::parse(agon::read_file(folder + "/tokenizer.json"), folder);
  const auto unit = benchmark::kMillisecond;
  benchmark::RegisterBenchmark("tokenise", [&](auto& state) { tokenise(state, *tokenizer, text); })->Unit(unit);
  for (const auto& [width, height] : {std::pair(224, 224), std::pair(640, 480), std::pair(1920, 1080)})
    benchmark::RegisterBenchmark(("picture/" + std::to_string(width) + "x" + std::to_string(height)).c_str(),
                                 [w = width, h = height](auto& state) { picture(state, w, h); })
        ->Unit(unit);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
