// probes_bench [large | tiny] [threads] [runs] - time of the probes that PDCR needs for a group of 8 responses with 8
// steps of 8 tokens and a gold answer of 8 tokens, white picture included. Runs probe_steps, in turns with one request
// to the engine per step and picture: for the step's words and, with the true picture, the suffix and answer after
// them. Prints medians of wall and processor seconds, and the largest difference between the two results, as JSON.
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "agents/engine/engine.h"
#include "agents/learn/loop/probe_group.h"
#include "agents/learn/loop/probes.h"
#include "agents/learn/network/checkpoint_weights.h"
#include "benchmarks/perf/bench_models.h"
#include "core/rng.h"

namespace {

using namespace agon;
using namespace agon::agents;

constexpr int kResponses = 8, kSteps = 8, kStepTokens = 8, kAnswerTokens = 8;

// Every id is a letter, which is enough for scoring.
class LetterTokenizer : public Tokenizer {
 public:
  explicit LetterTokenizer(int size) : size_(size) {}
  std::vector<std::int32_t> encode(std::string_view, bool, TextPlace) const override { return {}; }
  std::string decode(std::span<const std::int32_t>, bool, TextPlace) const override { return {}; }
  std::string token_bytes(std::int32_t) const override { return "x"; }
  std::optional<std::int32_t> id_of(std::string_view) const override { return std::nullopt; }
  bool is_special(std::int32_t) const override { return false; }
  int vocab_size() const override { return size_; }
  std::string json() const override { return ""; }

 private:
  int size_;
};

struct Shape {
  std::string name;
  ModelConfig config;
  int prompt;
  ImageGrid grid;
};

Shape large() { return {"large", large_model(), 300, {1, 24, 24}}; }
Shape tiny() { return {"tiny", tiny_model(), 60, {1, 8, 8}}; }

std::vector<std::int32_t> words(int count, Rng& rng) {
  std::vector<std::int32_t> ids;
  for (int i = 0; i < count; ++i) ids.push_back(rng.between(0, 99));
  return ids;
}

void append(std::vector<std::int32_t>& to, const std::vector<std::int32_t>& ids) {
  to.insert(to.end(), ids.begin(), ids.end());
}

std::shared_ptr<const PatchedImage> picture(const Shape& shape, bool white, Rng& rng) {
  const VisionConfig& vision = *shape.config.vision;
  const int width = vision.in_channels * vision.temporal_patch_size * vision.patch_size * vision.patch_size;
  PatchedImage image{shape.grid, {}, {}};
  for (int i = 0; i < shape.grid.patches() * width; ++i)
    image.patches.push_back(white ? 1.9f : static_cast<float>(rng.uniform()));
  image.hash = {rng(), rng()};
  return std::make_shared<const PatchedImage>(std::move(image));
}

ProbeGroup make_group(const Shape& shape, Rng& rng) {
  ProbeGroup group;
  group.prompt.ids = words(4, rng);
  group.prompt.ids.insert(group.prompt.ids.end(), static_cast<std::size_t>(shape.grid.patches() / 4),
                          shape.config.image_token_id);
  append(group.prompt.ids, words(shape.prompt - static_cast<int>(group.prompt.ids.size()), rng));
  group.prompt.images = {picture(shape, false, rng)};
  group.changed_images = {picture(shape, true, rng)};
  group.suffix = words(1, rng);
  group.answer = words(kAnswerTokens, rng);
  for (int i = 0; i < kResponses; ++i) {
    ProbedRollout& rollout = group.rollouts.emplace_back();
    rollout.response.ids = words(kSteps * kStepTokens, rng);
    for (int k = 0; k < kSteps; ++k) rollout.steps.push_back({k * kStepTokens, (k + 1) * kStepTokens, group.suffix});
  }
  return group;
}

std::vector<std::int32_t> tokens_of(const ProbedRollout& rollout, int begin, int end) {
  return {rollout.response.ids.begin() + begin, rollout.response.ids.begin() + end};
}

// One request for c_0, then one per response, step and picture.
std::vector<ScoringRequest> requests_of(const ProbeGroup& group) {
  const auto answered = [&](std::vector<std::int32_t> ids) {
    append(ids, group.suffix);
    append(ids, group.answer);
    return ids;
  };
  std::vector<ScoringRequest> requests{{group.prompt, answered({}), 1}};
  for (const ProbedRollout& rollout : group.rollouts)
    for (const ProbedStep& step : rollout.steps) {
      EncodedPrompt before = group.prompt;
      append(before.ids, tokens_of(rollout, 0, step.begin));
      const auto said = tokens_of(rollout, step.begin, step.end);
      requests.push_back({before, answered(said), 1});
      before.images = group.changed_images;
      requests.push_back({before, said, 1});
    }
  return requests;
}

double sum(const std::vector<float>& values, std::size_t begin, std::size_t end) {
  double total = 0;
  for (std::size_t i = begin; i < end; ++i) total += values[i];
  return total;
}

std::vector<StepProbes> probe_engine(Engine& engine, const ProbeGroup& group) {
  const std::vector<TokenScores> scores = engine.score(requests_of(group));
  const auto answer = [&](const TokenScores& score) {
    return sum(score.logprobs, score.logprobs.size() - kAnswerTokens, score.logprobs.size());
  };
  std::vector<StepProbes> results(group.rollouts.size());
  std::size_t next = 1;
  for (StepProbes& probes : results) {
    probes.confidence.push_back(answer(scores[0]));
    for (int k = 0; k < kSteps; ++k, next += 2) {
      probes.confidence.push_back(answer(scores[next]));
      probes.visual.push_back(sum(scores[next].logprobs, 0, kStepTokens) -
                              sum(scores[next + 1].logprobs, 0, kStepTokens));
    }
  }
  return results;
}

double difference(const std::vector<StepProbes>& a, const std::vector<StepProbes>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t k = 0; k < a[i].confidence.size(); ++k)
      largest = std::max(largest, std::abs(a[i].confidence[k] - b[i].confidence[k]));
    for (std::size_t k = 0; k < a[i].visual.size(); ++k)
      largest = std::max(largest, std::abs(a[i].visual[k] - b[i].visual[k]));
  }
  return largest;
}

struct Seconds {
  std::vector<double> wall, cpu;
  template <typename Work>
  void add(const Work& work) {
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t cpu_start = std::clock();
    work();
    wall.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    cpu.push_back(static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC);
  }
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

void run(const Shape& shape, int threads, int runs) {
  at::set_num_threads(threads);
  at::manual_seed(1);
  TransformerNetwork model(shape.config);
  Engine engine(engine_weights_of(model), shape.config, std::make_shared<LetterTokenizer>(shape.config.text.vocab_size),
                {.threads = threads, .share_starts = false});
  Rng rng(1);
  Seconds packed, single;
  double largest = 0;
  for (int i = 0; i < runs; ++i) {
    const std::vector<ProbeGroup> groups{make_group(shape, rng)};  // pictures that the engine has not seen
    std::vector<StepProbes> a, b;
    packed.add([&] { a = probe_steps(model, groups)[0]; });
    single.add([&] { b = probe_engine(engine, groups[0]); });
    largest = std::max(largest, difference(a, b));
  }
  const double wall = median(packed.wall), cpu = median(packed.cpu), one_wall = median(single.wall),
               one_cpu = median(single.cpu);
  fmt::print(R"({{"shape": "{}", "threads": {}, "packed_s": {:.4f}, "one_a_step_s": {:.4f}, "speedup": {:.2f}, )"
             R"("packed_cpu_s": {:.4f}, "one_a_step_cpu_s": {:.4f}, "speedup_cpu": {:.2f}, "difference": {:.2e}}})"
             "\n",
             shape.name, threads, wall, one_wall, one_wall / wall, cpu, one_cpu, one_cpu / cpu, largest);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "large";
  run(name == "tiny" ? tiny() : large(), argc > 2 ? std::atoi(argv[2]) : 2, argc > 3 ? std::atoi(argv[3]) : 5);
}
