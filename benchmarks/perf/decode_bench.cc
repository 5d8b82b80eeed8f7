// decode_bench FOLDER [threads] [new tokens] - generated tokens per second of a model folder, for 32 prompts x 8
// samples and 1 x 8. End-of-turn tokens are switched off so that every sample has all its tokens. Each prompt has its
// own, new picture. One JSON object per line; benchmarks/peers/transformers_generate.py prints the same.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "agents/engine/engine.h"
#include "agents/engine/open_backend.h"
#include "agents/hub/model_folder.h"
#include "agents/hub/prompt.h"
#include "benchmarks/perf/noise_picture.h"
#include "core/error.h"
#include "core/rng.h"

namespace {

using namespace agon;
using Clock = std::chrono::steady_clock;

std::vector<agents::GenerationRequest> make_requests(const agents::ModelFolder& folder, int prompts, int samples,
                                                     int new_tokens, Rng& rng) {
  std::vector<agents::GenerationRequest> requests;
  for (int i = 0; i < prompts; ++i) {
    const Message question{Role::user,
                           {Part::of(noise_picture(rng)), Part::of("What is the sum of the red bar and the blue bar?")},
                           {},
                           {}};
    agents::GenerationRequest request{
        agents::encode_prompt({question}, {}, folder.chat, *folder.tokenizer, folder.images, folder.config),
        samples,
        {}};
    request.sampling.max_tokens = new_tokens;
    request.sampling.seed = static_cast<std::uint64_t>(i);
    requests.push_back(std::move(request));
  }
  return requests;
}

double seconds_of(agents::Engine& engine, std::vector<agents::GenerationRequest> requests) {
  const auto start = Clock::now();
  engine.generate(std::move(requests));
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Median of a few runs on fresh pictures, without the first.
double median_seconds(agents::Engine& engine, const agents::ModelFolder& folder, int prompts, int samples,
                      int new_tokens) {
  constexpr int kRuns = 5;
  Rng rng(static_cast<std::uint64_t>(prompts * 1000 + new_tokens));
  std::vector<double> seconds;
  for (int run = 0; run <= kRuns; ++run) {
    const double taken = seconds_of(engine, make_requests(folder, prompts, samples, new_tokens, rng));
    if (run > 0) seconds.push_back(taken);
  }
  std::nth_element(seconds.begin(), seconds.begin() + kRuns / 2, seconds.end());
  return seconds[kRuns / 2];
}

void run(const std::filesystem::path& path, int threads, int new_tokens, const std::string& device) {
  agents::ModelFolder folder = agents::open_model_folder(path);
  folder.config.eos_token_ids.clear();
  agents::Engine engine(agents::open_backend(path, folder.config, {device}), folder.config, folder.tokenizer,
                        {.threads = threads});
  for (const int prompts : {1, 32}) {
    const double seconds = median_seconds(engine, folder, prompts, 8, new_tokens);
    fmt::print(R"({{"prompts": {}, "samples": 8, "new_tokens": {}, "seconds": {:.4f}, "tokens_per_second": {:.0f}}})"
               "\n",
               prompts, new_tokens, seconds, prompts * 8 * new_tokens / seconds);
  }
  fmt::print(R"({{"first_token_ms": {:.2f}}})"
             "\n",
             1e3 * median_seconds(engine, folder, 1, 1, 1));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: decode_bench FOLDER [threads, 2] [new tokens, 64] [cpu|torch:cpu|cuda, cpu]\n");
    return 2;
  }
  try {
    run(argv[1], argc > 2 ? std::atoi(argv[2]) : 2, argc > 3 ? std::atoi(argv[3]) : 64,
        argc > 4 ? argv[4] : agon::agents::kCpuDevice);
  } catch (const agon::Error& error) {
    fmt::print(stderr, "decode_bench: {}\n", error.what());
    return 1;
  }
}
