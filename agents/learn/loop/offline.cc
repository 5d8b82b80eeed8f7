#include "agents/learn/loop/offline.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>

#include <algorithm>

#include "agents/hub/model_folder.h"
#include "agents/hub/prompt.h"
#include "agents/learn/loop/checkpoint_folder.h"
#include "agents/learn/loop/learning_rate.h"
#include "agents/learn/loop/offline_loss.h"
#include "agents/learn/loop/optimizer.h"
#include "agents/learn/network/checkpoint_weights.h"
#include "agents/learn/network/packed_batch.h"
#include "agents/learn/network/token_logprob.h"
#include "agents/learn/network/transformer_network.h"
#include "agents/model_fingerprint.h"
#include "core/error.h"
#include "core/file.h"
#include "core/hash.h"
#include "core/progress.h"
#include "core/rng.h"
#include "core/text.h"

namespace agon::agents {
namespace {

namespace fs = std::filesystem;

std::string text_of(const std::vector<Message>& messages) {
  std::string text;
  for (const Message& message : messages) {
    text += fmt::format("{} ", static_cast<int>(message.role));
    for (const Part& part : message.parts) text += part.content();
  }
  return text;
}

// A hash of everything that the training depends on, to recognise its own checkpoint.
std::string fingerprint(const OfflineConfig& config, const std::vector<OfflineSample>& samples) {
  std::string text =
      fmt::format("{} {} {} {} {} {} {} {} {} {} {}", model_fingerprint(config.start), config.seed, config.epochs,
                  config.batch, config.learning_rate, config.weight_decay, config.clip_norm, config.baseline,
                  config.loss.clip, config.loss.kl, config.loss.imitation_weight);
  for (const OfflineSample& sample : samples) {
    text += fmt::format("\n{} {} {} ", sample.reward, sample.group, sample.imitated) + sample.response;
    text += text_of(sample.messages);
  }
  return fmt::format("{:016x}", hash_text(text));
}

Json json_of(const OfflineLossFigures& figures) {
  return {{"loss", figures.loss},
          {"ratio", figures.ratio},
          {"clipped", figures.clipped},
          {"kl", figures.kl},
          {"imitation", figures.imitation}};
}

OfflineLossFigures figures_in(const Json& json) {
  return {json.at("loss"), json.at("ratio"), json.at("clipped"), json.at("kl"), json.at("imitation")};
}

// Consecutive samples with the same messages, which are read once for all of them.
struct SamePrompt {
  std::size_t begin = 0, end = 0;
};
using Batch = std::vector<SamePrompt>;

class OfflineTrainer {
 public:
  OfflineTrainer(const OfflineConfig& config, const std::vector<OfflineSample>& samples)
      : config_(config),
        samples_(samples),
        folder_(open_model_folder(config.start)),
        model_(std::make_shared<TransformerNetwork>(folder_.config)) {
    if (samples.empty()) throw Error("{}: there is nothing to train {} on.", config.name, config.output.string());
    if (config.threads > 0) at::set_num_threads(config.threads);
    at::manual_seed(config.seed);
    make_output(config.output);
    fingerprint_ = fingerprint(config, samples);
    find_prompts();
    plan();
    load_weights(*model_, config.start);
    optimizer_ = std::make_unique<Optimizer>(model_->parameters(),
                                             AdamWSettings{config.learning_rate, config.weight_decay, 0.9, 0.999});
    set_advantages();
    set_references();
    resume();
  }

  bool train(const std::atomic<bool>& stop, OfflineFigures* figures) {
    const std::int64_t steps = std::ssize(batches_), last_epoch = std::ssize(batches_) - last_epoch_;
    Progress progress(config_.name + ": training " + config_.output.filename().string(), steps, "steps", step_);
    const fs::path log_file = config_.output / "train.jsonl";
    cut_log(log_file, step_);
    AppendedFile log(log_file);
    for (; step_ < steps; progress.add(1)) {
      if (stop) {
        checkpoint();
        return false;
      }
      const OfflineLossFigures now = step(batches_[static_cast<std::size_t>(step_)]);
      Json line = json_of(now);
      line["step"] = step_;
      log.add(line.dump() + "\n");
      if (step_ < first_epoch_) add(figures_.first, now, first_epoch_);
      if (step_ >= last_epoch) add(figures_.last, now, last_epoch_);
      if (++step_ % config_.checkpoint_steps == 0 && step_ < steps) checkpoint();
    }
    figures_.steps = steps;
    if (figures) *figures = figures_;
    if (find_checkpoint(config_.output).empty()) checkpoint();  // records the folder's owner in case of a kill
    ModelFolder output = folder_;
    output.path = config_.output;
    save_model_folder(config_.output, output, *model_, WeightType::f32);
    return true;
  }

 private:
  void find_prompts() {
    std::string last;
    std::int64_t prompt_tokens = 0;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      EncodedPrompt& response = responses_.emplace_back();
      response.ids = folder_.tokenizer->encode(samples_[i].response, false, TextPlace::within);
      response.ids.push_back(folder_.config.eos_token_ids.front());
      std::string key = text_of(samples_[i].messages);
      if (i == 0 || key != last) {
        prompts_.push_back({i, i});
        last = std::move(key);
        prompt_tokens = std::ssize(encoded(samples_[i].messages).ids);
      }
      prompts_.back().end = i + 1;
      const std::int64_t tokens = prompt_tokens + std::ssize(response.ids);
      const int most = folder_.config.text.max_position_embeddings;
      if (tokens > most)
        throw Error("{}: a response and what it answers are {} tokens; the context of {} holds {}.", config_.name,
                    tokens, config_.start.string(), most);
    }
  }

  // The batches of all epochs, each with at least config.batch samples, except the last of an epoch.
  void plan() {
    for (int epoch = 0; epoch < config_.epochs; ++epoch) {
      std::vector<SamePrompt> order = prompts_;
      Rng::derive(config_.seed, "offline", "epoch", static_cast<std::uint64_t>(epoch)).shuffle(order);
      const std::size_t before = batches_.size();
      std::size_t samples = static_cast<std::size_t>(config_.batch);
      for (const SamePrompt& prompt : order) {
        if (samples >= static_cast<std::size_t>(config_.batch)) {
          batches_.emplace_back();
          samples = 0;
        }
        batches_.back().push_back(prompt);
        samples += prompt.end - prompt.begin;
      }
      last_epoch_ = std::ssize(batches_) - static_cast<std::int64_t>(before);
      if (epoch == 0) first_epoch_ = last_epoch_;
    }
  }

  EncodedPrompt encoded(const std::vector<Message>& messages) const {
    return encode_prompt(messages, {}, folder_.chat, *folder_.tokenizer, folder_.images, folder_.config);
  }

  void set_advantages() {
    std::vector<double> rewards;
    std::vector<std::int64_t> groups;
    for (const OfflineSample& sample : samples_) {
      rewards.push_back(sample.imitated ? 0 : sample.reward);
      groups.push_back(sample.imitated ? -1 - std::ssize(groups) : sample.group);
    }
    advantages_ = config_.baseline ? group_baseline(rewards, groups) : rewards;
    const bool imitates = std::ranges::any_of(samples_, [](const OfflineSample& sample) { return sample.imitated; });
    if (!imitates && std::ranges::all_of(advantages_, [](double advantage) { return advantage == 0; }))
      throw Error("{}: {} would learn nothing: the rewards of {} responses do not differ from their baseline.",
                  config_.name, config_.output.string(), samples_.size());
  }

  void set_references() {
    const at::NoGradGuard no_grad;
    references_.resize(samples_.size());
    Progress progress(config_.name + ": what the start makes of them", std::ssize(samples_), "responses");
    for (std::int64_t i = 0; i < first_epoch_; ++i) {  // every sample once
      const Batch& batch = batches_[static_cast<std::size_t>(i)];
      const std::vector<std::size_t> chosen = samples_of(batch);
      std::vector<std::int64_t> lengths;
      for (const std::size_t one : chosen) lengths.push_back(std::ssize(responses_[one].ids));
      const std::vector<at::Tensor> parts = logprobs(batch).split_with_sizes(lengths);
      for (std::size_t k = 0; k < chosen.size(); ++k) references_[chosen[k]] = parts[k].clone();
      progress.add(std::ssize(chosen));
    }
  }

  static std::vector<std::size_t> samples_of(const Batch& batch) {
    std::vector<std::size_t> all;
    for (const SamePrompt& prompt : batch)
      for (std::size_t i = prompt.begin; i < prompt.end; ++i) all.push_back(i);
    return all;
  }

  // [T] of the responses' tokens, one response after another.
  at::Tensor logprobs(const Batch& batch) {
    std::vector<PackedGroup> groups;
    for (const SamePrompt& prompt : batch)
      groups.push_back(make_packed_group(encoded(samples_[prompt.begin].messages),
                                         std::span(responses_).subspan(prompt.begin, prompt.end - prompt.begin),
                                         folder_.config));
    const PackedBatch packed = make_packed_batch(groups, folder_.config);
    at::Tensor pictures;
    if (packed.patches.defined()) pictures = model_->encode_images(packed.patches, packed.grids);
    const at::Tensor hidden = model_->packed_hidden_states(packed, pictures);
    return token_logprobs(hidden.index_select(0, packed.predictors), model_->lm_head(), packed.targets, 1.0).logprob;
  }

  OfflineLossFigures step(const Batch& batch) {
    OfflineTokens tokens;
    std::vector<at::Tensor> references;
    for (const std::size_t i : samples_of(batch)) {
      references.push_back(references_[i]);
      tokens.lengths.push_back(references_[i].size(0));
      tokens.advantage.push_back(advantages_[i]);
      tokens.imitated.push_back(samples_[i].imitated);
    }
    tokens.reference_logprob = at::cat(references);
    optimizer_->zero_grad();
    tokens.logprob = logprobs(batch);
    const OfflineLoss loss = offline_loss(tokens, config_.loss);
    loss.loss.backward();
    const LearningRate rate{.peak = config_.learning_rate, .decay = Decay::linear, .decay_steps = std::ssize(batches_)};
    optimizer_->step(rate_at(rate, step_), config_.clip_norm);
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
      Json state = config_.notes;
      state.update({{"step", step_},
                    {"training", fingerprint_},
                    {"first", json_of(figures_.first)},
                    {"last", json_of(figures_.last)}});
      write_file_atomically((folder / "state.json").string(), state.dump());
    });
  }

  void resume() {
    const fs::path folder = find_checkpoint(config_.output);
    if (folder.empty()) return;
    const Json state = read_state(folder);
    require_own_training(state, fingerprint_, config_.name, folder, config_.notes.value("settings", Json()));
    load_weights(*model_, folder);
    optimizer_->load(folder / "optimizer.pt");
    step_ = state.at("step").get<std::int64_t>();
    figures_.first = figures_in(state.value("first", json_of({})));
    figures_.last = figures_in(state.value("last", json_of({})));
  }

  const OfflineConfig& config_;
  const std::vector<OfflineSample>& samples_;
  const ModelFolder folder_;
  std::string fingerprint_;
  std::shared_ptr<TransformerNetwork> model_;
  std::unique_ptr<Optimizer> optimizer_;
  std::vector<EncodedPrompt> responses_;  // of each sample, its end included
  std::vector<SamePrompt> prompts_;
  std::vector<Batch> batches_;                     // of all epochs
  std::int64_t first_epoch_ = 0, last_epoch_ = 0;  // batches in the first and in the last epoch
  std::vector<double> advantages_;
  std::vector<at::Tensor> references_;  // [T] of each sample, under the start model
  std::int64_t step_ = 0;
  OfflineFigures figures_;  // of the steps done
};

}  // namespace

bool train_offline(const OfflineConfig& config, const std::vector<OfflineSample>& samples,
                   const std::atomic<bool>& stop, OfflineFigures* figures) {
  return OfflineTrainer(config, samples).train(stop, figures);
}

}  // namespace agon::agents
