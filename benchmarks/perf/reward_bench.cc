// reward_bench FOLDER [threads, 2] [N, 1 to 32] - scores of N responses of 64 tokens to one prompt, about 300 tokens
// with its picture, by a fresh reward model on the model of FOLDER: in one pass, with joint and with separate
// responses, and in N forward passes that share nothing, as a model of single responses needs. FLOPs count the language
// model's products (2 per parameter and token) and its attention (4 per hidden unit and pair of tokens that see each
// other), without the picture. One JSON object per line.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <vector>

#include "agents/engine/engine.h"
#include "agents/learn/network/reward_network.h"
#include "benchmarks/perf/noise_picture.h"
#include "core/error.h"
#include "core/rng.h"

namespace {

using namespace agon;
using Clock = std::chrono::steady_clock;

constexpr int kRuns = 15, kResponse = 64;

// A prompt of about 300 tokens with its picture; no two prompts share a start.
agents::ResponseSet draw_set(const agents::ModelFolder& folder, int responses, Rng& rng) {
  std::string text = fmt::format("{} ", rng.between(1'000'000, 9'999'999));
  for (int i = 0; i < 9; ++i)
    text += fmt::format("The bar number {} has a height of {} and is red. ", i, rng.between(1, 99));
  const Message question{Role::user, {Part::of(noise_picture(rng)), Part::of(text)}, {}, {}};
  agents::ResponseSet set;
  set.prompt = agents::encode_prompt({question}, {}, folder.chat, *folder.tokenizer, folder.images, folder.config);
  for (int i = 0; i < responses; ++i) {
    std::vector<std::int32_t>& ids = set.responses.emplace_back();
    for (int k = 0; k < kResponse; ++k) ids.push_back(static_cast<std::int32_t>(rng.between(20, 500)));
  }
  return set;
}

// Whether all responses, one after another, fit the context.
bool fits(const agents::ModelFolder& folder, const agents::ResponseSet& set) {
  return std::ssize(set.prompt.ids) + std::ssize(set.responses) * (kResponse + 1) - 1 <=
         folder.config.text.max_position_embeddings;
}

std::string figure(double value) { return std::isnan(value) ? "null" : fmt::format("{:.2f}", value); }

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + std::ssize(values) / 2, values.end());
  return values[values.size() / 2];
}

class RewardModel {
 public:
  RewardModel(const std::filesystem::path& base, bool joint, bool share_starts, int threads)
      : network_({.base = base, .joint = joint}, 1),
        engine_(network_.engine_weights(), network_.folder().config, network_.folder().tokenizer,
                {.threads = threads, .share_starts = share_starts}) {}

  double seconds(const agents::ResponseSet& set) {
    const auto start = Clock::now();
    const agents::ResponseLayout layout = network_.lay_out(set);
    std::vector<agents::ScoringRequest> requests;
    for (const auto& ids : layout.sequences) requests.push_back({set.prompt, ids});
    network_.scores_of(engine_.states(std::move(requests)), layout);
    return std::chrono::duration<double>(Clock::now() - start).count();
  }
  const agents::ModelFolder& folder() const { return network_.folder(); }

 private:
  agents::RewardNetwork network_;
  agents::Engine engine_;
};

// FLOPs of reading `behind` tokens of one sequence after `cached` cached tokens.
double flops(const agents::ModelConfig& config, double cached, double behind) {
  const auto& text = config.text;
  const double hidden = static_cast<double>(text.hidden_size),
               head = hidden / static_cast<double>(text.num_attention_heads);
  const double layer = 2 * hidden * hidden + 2 * hidden * head * static_cast<double>(text.num_key_value_heads) +
                       3 * hidden * static_cast<double>(text.intermediate_size);
  const double layers = static_cast<double>(text.num_hidden_layers),
               pairs = behind * cached + behind * (behind + 1) / 2;
  return layers * (2 * layer * behind + 4 * hidden * pairs);
}

void run(const std::filesystem::path& base, int threads, const std::vector<int>& numbers) {
  RewardModel joint(base, true, true, threads), apart(base, false, true, threads), single(base, false, false, threads);
  for (const int n : numbers) {
    Rng rng(static_cast<std::uint64_t>(n));
    std::vector<double> joint_seconds, apart_seconds, single_seconds;
    double prompt = 0;
    for (int run = 0; run <= kRuns; ++run) {
      const agents::ResponseSet set = draw_set(joint.folder(), n, rng);
      prompt = static_cast<double>(set.prompt.ids.size());
      const double tree = apart.seconds(set), together = fits(joint.folder(), set) ? joint.seconds(set) : std::nan("");
      double each = 0;  // each with its own prompt, since the engine caches prompts
      for (int i = 0; i < n; ++i) each += single.seconds(draw_set(single.folder(), 1, rng));
      if (run == 0) continue;  // warms up
      joint_seconds.push_back(together);
      apart_seconds.push_back(tree);
      single_seconds.push_back(each);
    }
    const agents::ModelConfig& config = joint.folder().config;
    const double start = flops(config, 0, prompt), one = flops(config, prompt, kResponse);
    fmt::print(
        R"({{"responses": {}, "prompt_tokens": {}, "joint_ms": {}, "apart_ms": {:.2f}, "single_ms": {:.2f}, "ratio_joint": {}, "ratio_apart": {:.2f}, "joint_gflop": {:.3f}, "apart_gflop": {:.3f}, "single_gflop": {:.3f}}})"
        "\n",
        n, prompt, figure(1e3 * median(joint_seconds)), 1e3 * median(apart_seconds), 1e3 * median(single_seconds),
        figure(median(single_seconds) / median(joint_seconds)), median(single_seconds) / median(apart_seconds),
        1e-9 * (start + flops(config, prompt, n * (kResponse + 1) - 1)), 1e-9 * (start + n * one),
        1e-9 * n * (start + one));
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: reward_bench FOLDER [threads, 2] [N, 1 to 32]\n");
    return 2;
  }
  try {
    run(argv[1], argc > 2 ? std::atoi(argv[2]) : 2,
        argc > 3 ? std::vector<int>{std::atoi(argv[3])} : std::vector<int>{1, 2, 4, 8, 16, 32});
  } catch (const agon::Error& error) {
    fmt::print(stderr, "reward_bench: {}\n", error.what());
    return 1;
  }
}
