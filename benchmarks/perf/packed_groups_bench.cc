// packed_groups_bench [large | tiny] [threads] [runs] - time of the log-probabilities of a group's responses, forward
// and backward: packed (the prompt once) against one row of prompt + response per response, in turns. The unpacked rows
// read the picture once, or once per row as a plain trainer does. Prints medians as one JSON object. Bound of the
// decoder's speedup, the ratio of the rows: G (P + S) / (P + G S).
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "agents/learn/network/packed_batch.h"
#include "agents/learn/network/transformer_network.h"
#include "benchmarks/perf/bench_models.h"
#include "core/rng.h"

namespace {

using namespace agon;
using namespace agon::agents;
using at::Tensor;

struct Shape {
  const char* name;
  ModelConfig config;
  int groups, responses, prompt, response;  // P: picture and text
  ImageGrid grid;
};

// 300 + 8 x 64 tokens.
Shape large() { return {"large", large_model(), 1, 8, 300, 64, {1, 24, 24}}; }

// A batch of small groups.
Shape tiny() { return {"tiny", tiny_model(), 32, 8, 60, 40, {1, 8, 8}}; }

EncodedPrompt random_text(int tokens, Rng& rng) {
  EncodedPrompt text;
  for (int i = 0; i < tokens; ++i) text.ids.push_back(rng.between(0, 99));
  return text;
}

std::shared_ptr<const PatchedImage> random_picture(const Shape& shape, Rng& rng) {
  PatchedImage image{shape.grid, {}, {}};
  const VisionConfig& vision = *shape.config.vision;
  const int width = vision.in_channels * vision.temporal_patch_size * vision.patch_size * vision.patch_size;
  for (int i = 0; i < shape.grid.patches() * width; ++i) image.patches.push_back(static_cast<float>(rng.uniform()));
  return std::make_shared<const PatchedImage>(std::move(image));
}

struct Texts {
  EncodedPrompt prompt;
  std::vector<EncodedPrompt> responses;
};

Texts random_group(const Shape& shape, Rng& rng) {
  Texts group{random_text(4, rng), {}};
  const int picture = shape.grid.patches() / 4;
  group.prompt.ids.insert(group.prompt.ids.end(), static_cast<std::size_t>(picture), shape.config.image_token_id);
  const EncodedPrompt question = random_text(shape.prompt - 4 - picture, rng);
  group.prompt.ids.insert(group.prompt.ids.end(), question.ids.begin(), question.ids.end());
  group.prompt.images.push_back(random_picture(shape, rng));
  for (int i = 0; i < shape.responses; ++i) group.responses.push_back(random_text(shape.response, rng));
  return group;
}

EncodedPrompt joined(const EncodedPrompt& prompt, const EncodedPrompt& response) {
  EncodedPrompt row = prompt;
  row.ids.insert(row.ids.end(), response.ids.begin(), response.ids.end());
  return row;
}

// Rows of prompt + response without padding: all have the same length.
struct PlainBatch {
  Tensor ids, positions, predictors, targets;
  std::vector<std::int64_t> lengths;
};

PlainBatch plain_batch(const Shape& shape, const std::vector<Texts>& groups) {
  std::vector<std::int64_t> ids, positions, predictors, targets;
  const std::int64_t length = shape.prompt + shape.response;
  PlainBatch batch;
  for (const Texts& group : groups)
    for (const EncodedPrompt& response : group.responses) {
      const auto row = static_cast<std::int64_t>(batch.lengths.size());
      const EncodedPrompt text = joined(group.prompt, response);
      ids.insert(ids.end(), text.ids.begin(), text.ids.end());
      for (const auto& position : mrope_positions(text.ids, std::vector<ImageGrid>{shape.grid}, shape.config, nullptr))
        positions.insert(positions.end(), position.begin(), position.end());
      for (std::int64_t i = shape.prompt; i < length; ++i) {
        predictors.push_back(row * length + i - 1);
        targets.push_back(text.ids[static_cast<std::size_t>(i)]);
      }
      batch.lengths.push_back(length);
    }
  const auto rows = static_cast<std::int64_t>(batch.lengths.size());
  batch.ids = at::tensor(ids).view({rows, length});
  batch.positions = at::tensor(positions).view({rows, length, 3}).permute({2, 0, 1}).contiguous();
  batch.predictors = at::tensor(predictors);
  batch.targets = at::tensor(targets);
  return batch;
}

struct Seconds {
  double wall = 0, cpu = 0;
};

Seconds measure(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t cpu = std::clock();
  work();
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
          static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC};
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

Seconds median(const std::vector<Seconds>& all) {
  std::vector<double> wall, cpu;
  for (const Seconds& one : all) wall.push_back(one.wall), cpu.push_back(one.cpu);
  return {median(wall), median(cpu)};
}

class Comparison {
 public:
  explicit Comparison(const Shape& shape) : shape_(shape), model_(std::make_shared<TransformerNetwork>(shape.config)) {
    Rng rng(1);
    std::vector<Texts> groups;
    for (int i = 0; i < shape.groups; ++i) groups.push_back(random_group(shape, rng));
    std::vector<PackedGroup> packs;
    for (const Texts& group : groups) packs.push_back(make_packed_group(group.prompt, group.responses, shape.config));
    packed_ = make_packed_batch(packs, shape.config);
    plain_ = plain_batch(shape, groups);
    repeated_patches_ = packed_.patches.view({shape.groups, 1, -1, packed_.patches.size(1)})
                            .expand({-1, shape.responses, -1, -1})
                            .reshape({-1, packed_.patches.size(1)});
    repeated_grids_.assign(static_cast<std::size_t>(shape.groups * shape.responses), shape.grid);
  }

  void run(int runs) {
    std::vector<Seconds> packed, once, repeated;
    for (int i = 0; i <= runs; ++i) {
      const Seconds a = measure([&] { packed_step(); }), b = measure([&] { plain_step(false); }),
                    c = measure([&] { plain_step(true); });
      if (i == 0) continue;
      packed.push_back(a), once.push_back(b), repeated.push_back(c);
    }
    const double bound = static_cast<double>(shape_.responses * (shape_.prompt + shape_.response)) /
                         (shape_.prompt + shape_.responses * shape_.response);
    std::int64_t parameters = 0;
    for (const Tensor& parameter : model_->parameters()) parameters += parameter.numel();
    const Seconds a = median(packed), b = median(once), c = median(repeated);
    fmt::print(R"({{"shape": "{}", "parameters": {}, "threads": {}, "packed_s": {:.3f}, "rows_s": {:.3f}, )"
               R"("rows_and_pictures_s": {:.3f}, "speedup": {:.2f}, "speedup_pictures_too": {:.2f}, )"
               R"("speedup_cpu": {:.2f}, "speedup_cpu_pictures_too": {:.2f}, "bound": {:.2f}}})"
               "\n",
               shape_.name, parameters, at::get_num_threads(), a.wall, b.wall, c.wall, b.wall / a.wall, c.wall / a.wall,
               b.cpu / a.cpu, c.cpu / a.cpu, bound);
  }

 private:
  void forget_gradients() {
    for (const Tensor& parameter : model_->parameters()) parameter.mutable_grad() = Tensor();
  }
  void packed_step() {
    forget_gradients();
    const Tensor images = model_->encode_images(packed_.patches, packed_.grids);
    back(model_->packed_hidden_states(packed_, images), packed_.predictors, packed_.targets);
  }
  void plain_step(bool pictures_too) {
    forget_gradients();
    const Tensor images = pictures_too ? model_->encode_images(repeated_patches_, repeated_grids_)
                                       : repeat(model_->encode_images(packed_.patches, packed_.grids));
    back(model_->hidden_states(plain_.ids, plain_.positions, images, plain_.lengths).flatten(0, 1), plain_.predictors,
         plain_.targets);
  }
  Tensor repeat(const Tensor& images) const {
    return images.view({shape_.groups, 1, -1, images.size(1)})
        .expand({-1, shape_.responses, -1, -1})
        .reshape({-1, images.size(1)});
  }
  void back(const Tensor& hidden, const Tensor& predictors, const Tensor& targets) {
    const Tensor logits = model_->logits(hidden.index_select(0, predictors));
    at::log_softmax(logits, -1).gather(1, targets.unsqueeze(1)).mean().backward();
  }

  Shape shape_;
  std::shared_ptr<TransformerNetwork> model_;
  PackedBatch packed_;
  PlainBatch plain_;
  Tensor repeated_patches_;
  std::vector<ImageGrid> repeated_grids_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "large";
  at::set_num_threads(argc > 2 ? std::atoi(argv[2]) : 2);
  Comparison(name == "tiny" ? tiny() : large()).run(argc > 3 ? std::atoi(argv[3]) : 5);
}
