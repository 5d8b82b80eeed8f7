#include "agents/learn/loop/sft_model.h"

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <torch/nn/functional/loss.h>

#include <algorithm>
#include <cmath>

#include "agents/hub/model_folder.h"
#include "paths.h"
#include "torch_catch.h"

using namespace agon::agents;

namespace {

// Measures the largest single allocation of LibTorch on this thread, in bytes, while it lives.
class LargestAllocation {
 public:
  std::int64_t bytes() const { return watcher_->largest; }

 private:
  struct Watcher : c10::MemoryReportingInfoBase {
    void reportMemoryUsage(void*, std::int64_t size, std::size_t, std::size_t, c10::Device) override {
      largest = std::max(largest, size);
    }
    bool memoryProfilingEnabled() const override { return true; }
    std::int64_t largest = 0;
  };
  std::shared_ptr<Watcher> watcher_ = std::make_shared<Watcher>();
  c10::DebugInfoGuard guard_{c10::DebugInfoKind::PROFILER_STATE, watcher_};
};

constexpr int kVocabulary = 20'000;
constexpr std::int64_t kTokens = 600;

ModelConfig small_model() {
  ModelConfig config = open_model_folder(agon::test::source_path("models/agon-tiny")).config;
  config.text.vocab_size = kVocabulary;
  return config;
}

// Text sequences: the first half of each is context, the second half is trained.
SftBatch text_batch(const ModelConfig& config) {
  std::vector<SftSequence> sequences(3);
  std::int32_t next = 1000;
  for (SftSequence& sequence : sequences)
    for (std::int32_t i = 0; i < 2 * kTokens / 3; ++i) {
      sequence.ids.push_back(next = (next * 31 + 7) % kVocabulary);
      sequence.trained.push_back(i >= kTokens / 3);
      sequence.positions.push_back({i, i, i});
    }
  for (SftSequence& sequence : sequences)
    for (std::int32_t& id : sequence.ids)
      if (id == config.image_token_id) id = 1;
  return make_batch(sequences, config, 0);
}

at::Tensor plain_loss(SftModel& model, const SftBatch& batch) {
  const at::Tensor hidden = model.model().hidden_states(batch.ids, batch.positions, {}, batch.lengths);
  return torch::nn::functional::cross_entropy(
      model.model().logits(hidden.flatten(0, 1).index_select(0, batch.predictors)), batch.targets);
}

}  // namespace

TEST_CASE("sft model: the loss and its gradient are those of the whole logits, which are never in memory") {
  const ModelConfig config = small_model();
  at::manual_seed(1);
  SftModel model(SftConfig{}, config, 0);
  const SftBatch batch = text_batch(config);
  REQUIRE(batch.targets.size(0) == kTokens);

  const at::Tensor expected = plain_loss(model, batch);
  expected.backward();
  std::vector<at::Tensor> gradients;
  for (at::Tensor& weight : model.model().parameters()) {
    gradients.push_back(weight.grad().defined() ? weight.grad().clone() : at::zeros_like(weight));
    weight.mutable_grad().reset();
  }
  const LargestAllocation largest;
  const SftLoss loss = model.step(std::vector<SftBatch>{batch}, 0, 0).front();  // at rate 0 no weight moves
  CHECK(loss.language == Approx(expected.item<double>()).epsilon(1e-5));
  const std::int64_t logits = kTokens * kVocabulary * std::int64_t{sizeof(float)};
  const std::int64_t head = config.text.hidden_size * kVocabulary * std::int64_t{sizeof(float)};
  CHECK(largest.bytes() >= head);  // the gradient of the head
  CHECK(largest.bytes() < logits / 4);
  double squares = 0;
  for (const at::Tensor& gradient : gradients) squares += gradient.square().sum().item<double>();
  const double scale = std::min(1.0, 1 / (std::sqrt(squares) + 1e-6));  // as clipped to norm 1
  const auto parameters = model.model().parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!parameters[i].grad().defined()) continue;
    const double difference = (parameters[i].grad() - gradients[i] * scale).norm().item<double>();
    CHECK(difference <= 1e-3 * scale * gradients[i].norm().item<double>() + 1e-7);
  }
}
