#include "agents/learn/offline.h"

#include <ATen/Parallel.h>
#include <ATen/TensorIndexing.h>
#include <ATen/ops/log_softmax.h>
#include <torch/utils.h>

#include <algorithm>
#include <fstream>
#include <numeric>

#include "agents/learn/checkpoint_folder.h"
#include "agents/learn/offline_loss.h"
#include "agents/learn/optimizer.h"
#include "agents/learn/sft_batch.h"
#include "agents/local/checkpoint.h"
#include "agents/local/qwen2_5_vl.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/progress.h"
#include "core/rng.h"
#include "core/text.h"

namespace agon::agents {
namespace {

namespace fs = std::filesystem;

// Of everything that the training draws on, to tell whether a checkpoint is of this one.
std::string fingerprint(const OfflineConfig& config, const std::vector<OfflineSample>& samples) {
  std::string text = fmt::format("{} {} {} {} {} {} {} {} {} {} {}", config.start.string(), config.seed, config.epochs,
                                 config.batch, config.learning_rate, config.weight_decay, config.clip_norm,
                                 config.baseline, config.loss.clip, config.loss.kl, config.loss.imitation_weight);
  for (const OfflineSample& sample : samples) {
    text += fmt::format("\n{} {} {} ", sample.reward, sample.group, sample.imitated) + sample.response;
    for (const Message& message : sample.messages)
      for (const Part& part : message.parts) text += part.is_image() ? part.image.hash().hex() : part.text;
  }
  return fmt::format("{:016x}", hash_text(text));
}

class OfflineTrainer {
 public:
  OfflineTrainer(const OfflineConfig& config, const std::vector<OfflineSample>& samples)
      : config_(config), samples_(samples), folder_(open_model_folder(config.start)), model_(folder_.config) {
    if (samples.empty()) throw Error("self-play: there is nothing to train {} on.", config.output.string());
    if (config.threads > 0) at::set_num_threads(config.threads);
    torch::manual_seed(config.seed);
    fs::create_directories(config.output);
    fingerprint_ = fingerprint(config, samples);
    encode();
    load_weights(*model_, config.start);
    optimizer_ = std::make_unique<Optimizer>(model_->parameters(),
                                             AdamWSettings{config.learning_rate, config.weight_decay, 0.9, 0.999});
    set_advantages();
    set_references();
    resume();
  }

  bool train(const std::atomic<bool>& stop, OfflineFigures* figures) {
    const std::int64_t an_epoch = (std::ssize(samples_) + config_.batch - 1) / config_.batch;
    const std::int64_t steps = an_epoch * config_.epochs;
    Progress progress("self-play: training " + config_.output.filename().string(), steps, "steps", step_);
    std::ofstream log(config_.output / "train.jsonl", std::ios::app);
    for (; step_ < steps; progress.add(1)) {
      if (stop) {
        checkpoint();
        return false;
      }
      const OfflineLossFigures now = step(chosen(step_ / an_epoch, step_ % an_epoch));
      log << Json{{"step", step_},          {"loss", now.loss}, {"ratio", now.ratio},
                  {"clipped", now.clipped}, {"kl", now.kl},     {"imitation", now.imitation}}
                 .dump()
          << std::endl;
      if (figures && step_ < an_epoch) add(figures->first, now, an_epoch);
      if (figures && step_ >= steps - an_epoch) add(figures->last, now, an_epoch);
      if (++step_ % config_.checkpoint_steps == 0 && step_ < steps) checkpoint();
    }
    if (figures) figures->steps = steps;
    ModelFolder output = folder_;
    output.path = config_.output;
    save_model_folder(config_.output, output, *model_, WeightType::f32);
    fs::remove_all(config_.output / "checkpoint");
    return true;
  }

 private:
  void encode() {
    for (const OfflineSample& sample : samples_) {
      Demonstration demonstration{sample.messages, {true}, {}};
      demonstration.messages.push_back(Message::of(Role::assistant, sample.response));
      sequences_.push_back(encode_demonstration(demonstration, folder_));
      const int most = folder_.config.text.max_position_embeddings;
      if (std::ssize(sequences_.back().ids) > most)
        throw Error("self-play: a response and what it answers are {} tokens; the context of {} holds {}.",
                    sequences_.back().ids.size(), config_.start.string(), most);
    }
  }

  void set_advantages() {
    std::vector<double> rewards;
    std::vector<std::int64_t> groups;
    for (const OfflineSample& sample : samples_) {
      rewards.push_back(sample.imitated ? 0 : sample.reward);
      groups.push_back(sample.imitated ? -1 - std::ssize(groups) : sample.group);
    }
    advantages_ = config_.baseline ? group_baseline(rewards, groups) : rewards;
  }

  void set_references() {
    const torch::NoGradGuard no_grad;
    Progress progress("self-play: what the start makes of them", std::ssize(samples_), "responses");
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      references_.push_back(logprobs({i}));
      progress.add(1);
    }
  }

  // [T] of the responses' tokens, one response behind the other.
  torch::Tensor logprobs(const std::vector<std::size_t>& chosen) {
    std::vector<SftSequence> rows;
    for (const std::size_t i : chosen) rows.push_back(sequences_[i]);
    const SftBatch batch = make_batch(rows, folder_.config, 0);
    torch::Tensor pictures;
    if (batch.patches.defined()) pictures = model_->encode_images(batch.patches, batch.grids);
    const torch::Tensor hidden = model_->hidden_states(batch.ids, batch.positions, pictures, batch.lengths);
    const torch::Tensor logits = model_->logits(hidden.flatten(0, 1).index_select(0, batch.predictors));
    return at::log_softmax(logits, 1).gather(1, batch.targets.unsqueeze(1)).squeeze(1);
  }

  std::vector<std::size_t> chosen(std::int64_t epoch, std::int64_t step) const {
    std::vector<std::size_t> order(samples_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    Rng::derive(config_.seed, "offline", "epoch", static_cast<std::uint64_t>(epoch)).shuffle(order);
    const auto begin = static_cast<std::size_t>(step * config_.batch);
    const std::size_t end = std::min(begin + static_cast<std::size_t>(config_.batch), order.size());
    return {order.begin() + static_cast<std::ptrdiff_t>(begin), order.begin() + static_cast<std::ptrdiff_t>(end)};
  }

  OfflineLossFigures step(const std::vector<std::size_t>& chosen) {
    OfflineTokens tokens;
    std::vector<torch::Tensor> references;
    for (const std::size_t i : chosen) {
      references.push_back(references_[i]);
      tokens.lengths.push_back(references_[i].size(0));
      tokens.advantage.push_back(advantages_[i]);
      tokens.imitated.push_back(samples_[i].imitated);
    }
    tokens.reference_logprob = torch::cat(references);
    optimizer_->zero_grad();
    tokens.logprob = logprobs(chosen);
    const OfflineLoss loss = offline_loss(tokens, config_.loss);
    loss.loss.backward();
    optimizer_->step(config_.learning_rate, config_.clip_norm);
    return loss.figures;
  }

  static void add(OfflineLossFigures& mean, const OfflineLossFigures& one, std::int64_t steps) {
    const auto share = 1 / static_cast<double>(steps);
    mean.loss += one.loss * share;
    mean.ratio += one.ratio * share;
    mean.clipped += one.clipped * share;
    mean.kl += one.kl * share;
    mean.imitation += one.imitation * share;
  }

  void checkpoint() {
    write_checkpoint(config_.output, [&](const fs::path& folder) {
      save_model_folder(folder, folder_, *model_, WeightType::f32);
      optimizer_->save(folder / "optimizer.pt");
      write_file_atomically((folder / "state.json").string(), Json{{"step", step_}, {"training", fingerprint_}}.dump());
    });
  }

  void resume() {
    const fs::path folder = find_checkpoint(config_.output);
    if (folder.empty()) return;
    const Json state = Json::parse(read_file((folder / "state.json").string()));
    if (state.at("training") != fingerprint_)
      throw Error("self-play: {} is of another training: its samples or settings differ. Remove it to begin again.",
                  folder.string());
    load_weights(*model_, folder);
    optimizer_->load(folder / "optimizer.pt");
    step_ = state.at("step").get<std::int64_t>();
  }

  const OfflineConfig& config_;
  const std::vector<OfflineSample>& samples_;
  const ModelFolder folder_;
  std::string fingerprint_;
  Qwen25VL model_;
  std::unique_ptr<Optimizer> optimizer_;
  std::vector<SftSequence> sequences_;
  std::vector<double> advantages_;
  std::vector<torch::Tensor> references_;  // [T] of each sample, before the first step
  std::int64_t step_ = 0;
};

}  // namespace

bool train_offline(const OfflineConfig& config, const std::vector<OfflineSample>& samples,
                   const std::atomic<bool>& stop, OfflineFigures* figures) {
  return OfflineTrainer(config, samples).train(stop, figures);
}

}  // namespace agon::agents
