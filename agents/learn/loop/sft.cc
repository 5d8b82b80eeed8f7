#include "agents/learn/loop/sft.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <chrono>

#include "agents/engine/local_policy.h"
#include "agents/hub/tokenizer/tokenizer_learner.h"
#include "agents/learn/data/sft/queue.h"
#include "agents/learn/loop/checkpoint_folder.h"
#include "agents/learn/loop/learning_rate.h"
#include "agents/learn/loop/sft_model.h"
#include "agents/learn/loop/sft_score.h"
#include "agents/learn/network/checkpoint_weights.h"
#include "core/error.h"
#include "core/file.h"
#include "core/progress.h"
#include "core/text.h"
#include "env/suite.h"

namespace agon::agents {
namespace {

using std::filesystem::path;

const std::vector<std::string> kSpecialTokens{"<|endoftext|>",  "<|im_start|>",  "<|im_end|>",   "<|vision_start|>",
                                              "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"};
const std::vector<std::string> kTagTokens{"<think>", "</think>", "<answer>", "</answer>", "<score>", "</score>"};

// The folder that a new model starts from: tokenizer learned from demonstrations, token ids filled into the config.
ModelFolder new_folder(const SftConfig& config) {
  ModelFolder folder;
  folder.path = config.output;
  folder.images = config.images;
  folder.chat = ChatTemplate::parse(ChatTemplate::plain_jinja(), "train-sft");
  const std::vector<std::string> texts = demonstration_texts(config, 2000);
  folder.tokenizer =
      Tokenizer::parse(learn_tokenizer(texts, config.vocabulary, kSpecialTokens, kTagTokens), "train-sft");
  folder.config = config.model;
  folder.config.text.vocab_size = folder.tokenizer->vocab_size();
  const auto id = [&](const char* token) { return folder.tokenizer->id_of(token).value(); };
  folder.config.image_token_id = id("<|image_pad|>");
  folder.config.video_token_id = id("<|video_pad|>");
  folder.config.vision_start_token_id = id("<|vision_start|>");
  folder.config.vision_end_token_id = id("<|vision_end|>");
  folder.config.eos_token_ids = {id("<|im_end|>"), id("<|endoftext|>")};
  return folder;
}

std::string name_of(const SftSource& source) {
  return source.suite.name() + (source.level ? fmt::format(" {}", source.level) : "") +
         (source.suite.options().two_turn ? " two-turn" : "") + (source.writer.empty() ? "" : " written");
}

LearningRate learning_rate(const SftConfig& config) {
  return {.peak = config.learning_rate,
          .warmup_steps = config.warmup_steps,
          .decay = Decay::cosine,
          .final_share = config.final_rate,
          .decay_steps = config.steps - config.warmup_steps};
}

double auxiliary_weight_at(const SftConfig& config, std::int64_t step) {
  const double share = static_cast<double>(step) / (config.auxiliary_until * static_cast<double>(config.steps));
  return config.auxiliary_weight * std::max(0.0, 1 - share);
}

class ImitationTrainer {
 public:
  explicit ImitationTrainer(const SftConfig& config) : config_(config), classes_(object_classes(config.sources)) {
    at::manual_seed(config.seed);
    require_no_other(config.output, "train-sft");
    make_output(config.output);
    if (resume()) return;
    begin();
  }

  bool train(const std::atomic<bool>& stop) {
    sample_what_is_shown(stop);
    if (stop) return false;
    {
      const TrainedScores scores = config_.start.empty() ? TrainedScores::yes : TrainedScores::no;
      BatchQueue queue(config_, folder_, classes_, shown_, step_, config_.steps, scores);
      Progress progress("train-sft", config_.steps, "steps", step_);
      for (; step_ < config_.steps && !stop; progress.add(1, last_figures_)) {
        const double rate = rate_at(learning_rate(config_), step_), auxiliary = auxiliary_weight_at(config_, step_);
        log(model_->step(queue.next(), rate, auxiliary), rate);
        if (++step_ % config_.checkpoint_steps == 0 && step_ < config_.steps) checkpoint();
      }
      if (!stop || step_ < config_.steps) checkpoint();
    }
    if (step_ < config_.steps) return false;
    save_model_folder(config_.output, folder_, model_->model(), WeightType::f32);
    if (config_.score_steps > 0 && !train_scores(stop)) return false;
    save_model_folder(config_.output, folder_, model_->model(), WeightType::f32);
    return true;
  }

 private:
  void begin() {
    // Left by a training run that was killed before its first checkpoint.
    std::filesystem::remove(config_.output / "train.jsonl");
    folder_ = config_.start.empty() ? new_folder(config_) : open_model_folder(config_.start);
    folder_.path = config_.output;
    model_ = std::make_unique<SftModel>(config_, folder_.config, static_cast<int>(classes_.size()));
    if (!config_.start.empty()) load_weights(model_->model(), config_.start);
  }

  // Samples the model texts that sources show. A resumed training samples them again, with the same result.
  void sample_what_is_shown(const std::atomic<bool>& stop) {
    shown_.first_answers.resize(config_.sources.size());
    shown_.written_steps.resize(config_.sources.size());
    for (std::size_t i = 0; i < config_.sources.size() && !stop; ++i) {
      if (config_.sources[i].suite.options().two_turn) sample_answers_of(i, stop);
      if (!config_.sources[i].writer.empty()) sample_steps_of(i, stop);
    }
  }

  // First answers of the model that the training starts from, one for every demonstration.
  void sample_answers_of(std::size_t i, const std::atomic<bool>& stop) {
    const SftSource& source = config_.sources[i];
    const std::unique_ptr<Policy> policy = make_local_policy(config_.start, {.threads = config_.threads});
    shown_.first_answers[i] = sample_first_answers(*policy, source.solver(), config_.seed, config_.first_task(i),
                                                   config_.steps * source.episodes, &stop);
    std::erase_if(shown_.first_answers[i],
                  [&](const FirstAnswer& answer) { return !can_be_shown(answer.message.token_ids, folder_); });
    if (shown_.first_answers[i].empty() && !stop)
      throw Error("train-sft: {} answers no task of '{}'.", config_.start.string(), source.suite.name());
  }

  void sample_steps_of(std::size_t i, const std::atomic<bool>& stop) {
    const SftSource& source = config_.sources[i];
    const std::unique_ptr<Policy> writer = make_local_policy(source.writer, {.threads = config_.threads});
    shown_.written_steps[i] = sample_written_steps(*writer, source, config_.seed, config_.first_task(i), &stop);
    if (shown_.written_steps[i].empty() && !stop)
      throw Error(
          "train-sft: of {} tasks of '{}', {} writes no step that the suite knows to be wrong. Raise "
          "'written_tasks', or leave this source out.",
          source.written_tasks, source.suite.name(), source.writer.string());
  }

  // The second stage (sft_score.h). It is short: if killed, it starts again from the end of the first stage.
  bool train_scores(const std::atomic<bool>& stop) {
    const std::vector<std::vector<ScoredAnswer>> answers = sampled_answers(stop);
    if (stop) return false;
    BatchQueue queue(config_, folder_, classes_, shown_, config_.steps, config_.steps + config_.score_steps,
                     TrainedScores::no);
    Progress progress("train-sft: scores", config_.score_steps, "steps");
    for (std::int64_t step = 0; step < config_.score_steps; ++step) {
      if (stop) return false;
      std::vector<SftBatch> batches = queue.next();
      for (std::size_t i = 0; i < answers.size(); ++i)
        batches.push_back(score_batch(answers[i], config_.sources[i].episodes, step));
      const double rate = rate_at(
          {.peak = config_.score_learning_rate, .decay = Decay::linear, .decay_steps = config_.score_steps}, step);
      log(model_->step(batches, rate, 0), rate);
      progress.add(1, last_figures_);
    }
    return true;
  }

  // Incomplete if the training is asked to stop.
  std::vector<std::vector<ScoredAnswer>> sampled_answers(const std::atomic<bool>& stop) {
    const std::unique_ptr<Policy> policy = make_local_policy(config_.output, {.threads = config_.threads});
    std::vector<std::vector<ScoredAnswer>> answers;
    const auto fresh = static_cast<std::uint64_t>(1) << 40;  // train tasks that the first stage has not seen
    for (std::size_t i = 0; i < config_.sources.size() && !stop; ++i)
      answers.push_back(sample_answers(*policy, config_.sources[i], config_.seed, fresh + config_.first_task(i),
                                       config_.score_tasks, kScoreSamples, &stop));
    for (std::vector<ScoredAnswer>& of_source : answers)
      std::erase_if(of_source, [&](const ScoredAnswer& answer) {
        return !std::ranges::all_of(answer.turns.messages,
                                    [&](const Message& message) { return can_be_shown(message.token_ids, folder_); });
      });
    for (std::size_t i = 0; i < answers.size(); ++i)
      if (answers[i].empty() && !stop)
        throw Error(
            "train-sft: no answer of the model on '{}' has an <answer> to score. Train for more 'steps', or set "
            "'score_steps' to 0.",
            config_.sources[i].suite.name());
    return answers;
  }

  // `count` answers from index step * count of the list on, cyclically.
  SftBatch score_batch(const std::vector<ScoredAnswer>& answers, int count, std::int64_t step) const {
    std::vector<SftSequence> sequences;
    const std::size_t first = static_cast<std::size_t>(step) * static_cast<std::size_t>(count);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
      sequences.push_back(encode_scored(answers[(first + i) % answers.size()], folder_));
    return make_batch(sequences, folder_.config, static_cast<int>(classes_.size()));
  }

  // Appends one line of figures and keeps the text for the progress bar.
  void log(const std::vector<SftLoss>& losses, double rate) {
    Json line{{"step", step_}, {"learning_rate", rate}};
    last_figures_ = "loss";
    for (std::size_t i = 0; i < losses.size(); ++i) {
      const std::size_t sources = config_.sources.size();
      const std::string suite = name_of(config_.sources[i % sources]) + (i < sources ? "" : " score");
      line["loss"][suite] = losses[i].language;
      line["object_loss"][suite] = losses[i].objects;
      last_figures_ += fmt::format(" {} {:.3f}", suite, losses[i].language);
    }
    line["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    AppendedFile(config_.output / "train.jsonl").add(line.dump() + "\n");
  }

  void checkpoint() {
    write_checkpoint(config_.output, [&](const path& folder) {
      save_model_folder(folder, folder_, model_->model(), WeightType::f32);
      model_->save_training_state(folder);
      write_file_atomically((folder / "state.json").string(),
                            Json{{"command", "train-sft"}, {"step", step_}, {"config", config_.source}}.dump());
    });
  }

  bool resume() {
    const path folder = find_checkpoint(config_.output);
    if (folder.empty()) return false;
    const Json state = read_state(folder);
    if (!state.contains("config") || !state["config"].is_object())
      throw Error("train-sft: {} is not a checkpoint of agon train-sft. Choose another 'output'.", folder.string());
    for (const auto& [key, value] : config_.source.items())  // score_* may differ: that stage has not begun
      if (!key.starts_with("score_") && state["config"].value(key, Json()) != value)
        throw Error(
            "train-sft: {} was trained with another config: '{}' is {} there, {} now. Remove the folder, or give "
            "another 'output'.",
            folder.string(), key, state["config"].value(key, Json()).dump(), value.dump());
    folder_ = open_model_folder(folder);
    folder_.path = config_.output;
    model_ = std::make_unique<SftModel>(config_, folder_.config, static_cast<int>(classes_.size()));
    load_weights(model_->model(), folder);
    model_->load_training_state(folder);
    step_ = state["step"].get<std::int64_t>();
    cut_log(config_.output / "train.jsonl", step_);
    return true;
  }

  static constexpr int kScoreSamples = 4;

  const SftConfig& config_;
  const std::vector<std::string> classes_;
  BatchQueue::Shown shown_;
  ModelFolder folder_;
  std::unique_ptr<SftModel> model_;
  std::int64_t step_ = 0;
  std::string last_figures_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

bool train_sft(const SftConfig& config, const std::atomic<bool>& stop) {
  if (config.threads > 0) at::set_num_threads(config.threads);
  return ImitationTrainer(config).train(stop);
}

}  // namespace agon::agents
