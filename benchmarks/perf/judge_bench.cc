// judge_bench FOLDER [threads] - a critic's verdicts on 8 candidate steps of one prefix, about 300 tokens with its
// picture: in one call, and in 8 calls one after another. The prompts of the 8 calls start differently, so they share
// only the picture's embedding. Verdicts have one token, critiques 32. One JSON object per line.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <vector>

#include "agents/engine/engine.h"
#include "agents/hub/model_folder.h"
#include "agents/hub/prompt.h"
#include "benchmarks/perf/noise_picture.h"
#include "core/error.h"
#include "core/rng.h"

namespace {

using namespace agon;
using Clock = std::chrono::steady_clock;

constexpr int kCandidates = 8, kRuns = 15;

std::vector<agents::GenerationRequest> candidates(const agents::ModelFolder& folder, int new_tokens, Rng& rng) {
  const Image picture = noise_picture(rng);
  std::string before = "## Problem\nWhat is the sum of all bars?\n\n## Partial Solution\n";
  for (int step = 0; step < 10; ++step)
    before += fmt::format("The bar number {} has a height of {} and it is red.\n\n", step, rng.between(1, 99));
  std::vector<agents::GenerationRequest> requests;
  for (int i = 0; i < kCandidates; ++i) {
    const Message question{
        Role::user,
        {Part::of(picture), Part::of(fmt::format("{}## Last Step\nThe sum of these bars is {}.", before, 10 + i))},
        {},
        {}};
    agents::GenerationRequest request{
        agents::encode_prompt({question}, {}, folder.chat, *folder.tokenizer, folder.images, folder.config), 1, {}};
    request.sampling.max_tokens = new_tokens;
    request.sampling.temperature = 0;
    requests.push_back(std::move(request));
  }
  return requests;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + std::ssize(values) / 2, values.end());
  return values[values.size() / 2];
}

template <typename Work>
double seconds_of(Work&& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void run(const std::filesystem::path& path, int threads) {
  agents::ModelFolder folder = agents::open_model_folder(path);
  folder.config.eos_token_ids.clear();
  const auto engine_that = [&](bool share_starts) {
    return std::make_unique<agents::Engine>(agents::load_engine_weights(path, folder.config), folder.config,
                                            folder.tokenizer,
                                            agents::EngineOptions{.threads = threads, .share_starts = share_starts});
  };
  const auto sharing = engine_that(true), plain = engine_that(false);
  for (const int new_tokens : {1, 32}) {
    Rng rng(static_cast<std::uint64_t>(new_tokens));
    std::vector<double> one_call, calls;
    std::size_t prompt = 0;
    for (int run = 0; run <= kRuns; ++run) {
      const auto requests = candidates(folder, new_tokens, rng);
      prompt = requests.front().prompt.ids.size();
      const double all = seconds_of([&] { sharing->generate(requests); });
      const double each = seconds_of([&] {
        for (const auto& request : requests) plain->generate({request});
      });
      if (run == 0) continue;  // warms up
      one_call.push_back(all);
      calls.push_back(each);
    }
    fmt::print(
        R"({{"candidates": {}, "prompt_tokens": {}, "new_tokens": {}, "together_ms": {:.2f}, "separate_ms": {:.2f}, "ratio": {:.2f}}})"
        "\n",
        kCandidates, prompt, new_tokens, 1e3 * median(one_call), 1e3 * median(calls), median(calls) / median(one_call));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: judge_bench FOLDER [threads, 2]\n");
    return 2;
  }
  try {
    run(argv[1], argc > 2 ? std::atoi(argv[2]) : 2);
  } catch (const agon::Error& error) {
    fmt::print(stderr, "judge_bench: {}\n", error.what());
    return 1;
  }
}
