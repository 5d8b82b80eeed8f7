#include "critic/reward_model/training.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "agents/config_reader.h"
#include "agents/learn/loop/checkpoint_folder.h"
#include "agents/learn/loop/config_paths.h"
#include "agents/learn/loop/learning_rate.h"
#include "agents/learn/loop/optimizer_config.h"
#include "agents/learn/loop/reward_learner.h"
#include "agents/learn/loop/unused_keys.h"
#include "agents/model_fingerprint.h"
#include "core/error.h"
#include "core/file.h"
#include "core/hash.h"
#include "core/paths.h"
#include "core/progress.h"
#include "core/provenance.h"
#include "core/rng.h"
#include "core/statistics.h"
#include "core/text.h"
#include "critic/reward_model/card.h"
#include "critic/reward_model/mixture.h"
#include "critic/reward_model/preference.h"
#include "critic/reward_model/ranking_metrics.h"
#include "record/run_database.h"

namespace agon::critic {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLog = "train.jsonl";
constexpr const char* kNoSettings[] = {"threads", "checkpoint_steps", "output"};  // keys that change no weight

std::string hash_of(const std::string& text) { return fmt::format("{:016x}", hash_text(text)); }

class RewardTrainer {
 public:
  explicit RewardTrainer(const RewardTrainingConfig& config)
      : config_(config),
        learner_(config.network, {config.loss,
                                  {config.learning_rate, config.weight_decay, 0.9, 0.999},
                                  config.imitation,
                                  config.clip_norm,
                                  config.seed,
                                  config.threads}) {
    read();
    if (!fs::exists(config.output / agents::kRewardModelFile)) agents::require_no_other(config.output, "train-rm");
    agents::make_output(config.output);
    lock_.emplace(config.output);
    steps_ = config.epochs * steps_an_epoch();
    resume();
  }

  // The notes of the finished model in the output folder, made by this training; null if there is none yet. Throws
  // Error if another training made it.
  Json finished() const {
    if (!fs::exists(config_.output / agents::kRewardModelFile)) return {};
    const agents::RewardNetwork there(config_.output);
    Json notes = there.notes();
    if (notes.is_object() && notes.contains("config") && notes.contains(kProvenance))
      notes["settings"] = training_settings(notes["config"], notes[kProvenance]);
    agents::require_own_training(notes, fingerprint_, "train-rm", config_.output, settings_);
    for (const char* key : {"held_out", "sets", "steps"})
      if (!there.notes().contains(key))
        throw Error("train-rm: {}: its notes have no '{}'. Remove the folder to train again.",
                    (config_.output / agents::kRewardModelFile).string(), key);
    return there.notes();
  }

  bool train(const std::atomic<bool>& stop) {
    Progress progress("train-rm", steps_, "steps", step_);
    agents::cut_log(config_.output / kLog, step_);
    AppendedFile log(config_.output / kLog);
    while (step_ < steps_) {
      if (stop) {
        checkpoint();
        return false;
      }
      log.add(step().dump() + "\n");
      if (++step_ % config_.checkpoint_steps == 0 && step_ < steps_) checkpoint();
      progress.add(1, fmt::format("loss {:.3f}", last_loss_));
    }
    return true;
  }

  Json finish() {
    try {
      learner_.require_finite();
    } catch (const Error& error) {
      throw Error("train-rm: after the last step {}", error.what());
    }
    const std::vector<ScoredSet> sets = held_out_scores();
    const LogisticFit fit = fit_best(sets);
    Json notes{{"config", config_.source}, {"sets", train_.size()}, {"passed_over", passed_over_},
               {"held_out", Json()},       {"steps", steps_},       {"ties_drawn", ties_drawn_},
               {"slope", fit.slope},       {"offset", fit.offset},  {"training", fingerprint_}};
    if (!sets.empty()) notes["held_out"] = ranking_json(sets);
    notes[kProvenance] = training_provenance(config_);
    write_reward_card(config_.output, config_.network, notes);
    learner_.network().save(config_.output, notes);
    agents::remove_checkpoint(config_.output);
    return notes;
  }

 private:
  void read() {
    std::vector<Preference> all;
    std::set<std::string> categories;  // including skipped and held-out sets
    for (const fs::path& file : config_.data)
      for (Preference& one : read_preferences(file)) {
        categories.insert(one.category);
        if (without_order(one))
          ++passed_over_;
        else
          all.push_back(std::move(one));
      }
    require_categories(config_.weights, categories);
    fingerprint_ = training_fingerprint(config_, learner_.network().base_weights());
    settings_ = training_settings(config_.source, training_provenance(config_));
    const auto held = static_cast<std::size_t>(config_.held_out * static_cast<double>(all.size()));
    if (held == all.size())
      throw Error("train-rm: nothing to train on: of the sets of {} files, {} have only responses of the same rank.",
                  config_.data.size(), passed_over_);
    Rng::derive(config_.seed, "held out").shuffle(all);
    held_out_.assign(std::make_move_iterator(all.end() - static_cast<std::ptrdiff_t>(held)),
                     std::make_move_iterator(all.end()));
    all.resize(all.size() - held);
    train_ = std::move(all);
    for (const Preference& one : train_) categories_.push_back(one.category);
    order_ = mixed_epoch(categories_, config_.weights, config_.seed, epoch_);
    require_context();
  }

  // Reports sets that do not fit into the context now, not in the middle of an epoch.
  void require_context() const {
    for (const std::vector<Preference>* list : {&train_, &held_out_})
      require_each("train-rm", *list,
                   [&](const Candidates& set) { learner_.network().encode(set.messages, set.responses); });
  }

  std::int64_t steps_an_epoch() const { return (std::ssize(train_) + config_.batch - 1) / config_.batch; }

  // The sets of a step.
  std::vector<agents::RankedResponses> drawn(std::int64_t step) {
    const auto epoch = static_cast<int>(step / steps_an_epoch());
    if (epoch != epoch_) {
      order_ = mixed_epoch(categories_, config_.weights, config_.seed, epoch);
      epoch_ = epoch;
    }
    const auto begin = static_cast<std::size_t>(step % steps_an_epoch() * config_.batch);
    std::vector<agents::RankedResponses> batch;
    for (std::size_t i = begin; i < std::min(order_.size(), begin + static_cast<std::size_t>(config_.batch)); ++i)
      batch.push_back(draw(train_[order_[i]], Rng::derive(config_.seed, "responses", std::to_string(epoch), i)));
    return batch;
  }

  agents::RankedResponses draw(const Preference& preference, Rng rng) const {
    std::vector<std::size_t> order(preference.rank.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (config_.shuffle) rng.shuffle(order);
    agents::RankedResponses set{preference.messages, {}, {}, {}};
    for (const std::size_t place : order) {
      set.ranked.push_back(std::ssize(set.responses));
      set.responses.push_back(preference.responses[place]);
      set.rank.push_back(preference.rank[place]);
    }
    rng.shuffle(set.ranked);
    std::ranges::stable_sort(set.ranked, {},
                             [&](std::int64_t place) { return set.rank[static_cast<std::size_t>(place)]; });
    return set;
  }

  Json step() {
    const std::vector<agents::RankedResponses> batch = drawn(step_);
    const auto ties =
        std::ranges::count_if(batch, [&](const auto& set) { return agents::draws_ties(config_.loss, set.rank); });
    const agents::LearningRate rate{
        .peak = config_.learning_rate, .decay = agents::Decay::linear, .decay_steps = steps_};
    agents::RankingStepFigures figures;
    try {
      figures = learner_.step(batch, agents::rate_at(rate, step_));
    } catch (const Error& error) {
      throw Error("train-rm: step {}: {}", step_, error.what());
    }
    last_loss_ = figures.loss;
    ties_drawn_ += ties;
    return {{"step", step_},
            {"loss", figures.loss},
            {"best", figures.best},
            {"gradient_norm", figures.gradient_norm},
            {"ties_drawn", ties}};
  }

  std::vector<ScoredSet> held_out_scores() {
    std::vector<ScoredSet> scored;
    if (held_out_.empty()) return scored;
    Progress progress("train-rm: held-out sets", std::ssize(held_out_), "sets");
    for (const Preference& one : held_out_) {
      scored.push_back({one.category, one.rank, learner_.score(one.messages, one.responses)});
      progress.add(1);
    }
    return scored;
  }

  // Fits P(rank 1) as a function of the score, with equal total weight on responses of rank 1 and on the others.
  static LogisticFit fit_best(const std::vector<ScoredSet>& sets) {
    std::vector<double> scores;
    std::vector<int> best;
    for (const ScoredSet& set : sets)
      for (std::size_t i = 0; i < set.rank.size(); ++i) {
        scores.push_back(set.scores[i]);
        best.push_back(set.rank[i] == 1);
      }
    return fit_logistic(scores, best);
  }

  void checkpoint() {
    agents::write_checkpoint(config_.output, [&](const fs::path& folder) {
      learner_.save_state(folder);
      write_file_atomically((folder / "state.json").string(), Json{{"command", "train-rm"},
                                                                   {"settings", settings_},
                                                                   {"step", step_},
                                                                   {"ties_drawn", ties_drawn_},
                                                                   {"training", fingerprint_}}
                                                                  .dump());
    });
  }

  void resume() {
    const fs::path folder = agents::find_checkpoint(config_.output);
    if (folder.empty()) return;
    const Json state = agents::read_state(folder);
    agents::require_own_training(state, fingerprint_, "train-rm", folder, settings_);
    learner_.load_state(folder);
    step_ = state.at("step");
    if (const Json ties = state.value("ties_drawn", Json()); ties.is_number_integer()) ties_drawn_ = ties;
  }

  const RewardTrainingConfig& config_;
  std::optional<record::FolderLock> lock_;
  agents::RewardLearner learner_;
  std::vector<Preference> train_, held_out_;
  std::vector<std::string> categories_;  // of train_
  std::string fingerprint_;
  Json settings_;  // training_settings
  std::int64_t passed_over_ = 0, ties_drawn_ = 0;
  std::int64_t steps_ = 0, step_ = 0;
  int epoch_ = 0;                   // epoch of order_
  std::vector<std::size_t> order_;  // places in train_
  double last_loss_ = 0;
};

void read_network(agents::ConfigSection& section, const fs::path& file, agents::RewardNetworkSettings& network) {
  std::string model, responses = "joint", representation = "last", head = "silu";
  section.read("model", model);
  section.read("responses", responses);
  section.read("representation", representation);
  section.read("head", head);
  section.read("inner", network.inner);
  section.read("likelihood", network.likelihood);
  if (model.empty()) throw Error("{}: 'model' is missing: the model folder to build on.", section.name());
  if (responses != "joint" && responses != "apart")
    throw Error(
        "{}: 'responses' must be joint (each sees the responses before it) or apart (each sees only the prompt), got "
        "'{}'.",
        section.name(), responses);
  network.base = fs::absolute(agents::from_working_folder(file, model)).lexically_normal();  // the adapter stores it
  network.joint = responses == "joint";
  network.representation = agents::parse_representation(representation);
  network.head = agents::parse_head(head);
  if (network.inner < 1 || network.inner > agents::kMostInner)
    throw Error("{}: 'inner' must lie between 1 and {}, got {}.", section.name(), agents::kMostInner, network.inner);
  if (const Json* json = section.child("lora")) {
    agents::ConfigSection lora(*json, section.name() + ": lora");
    lora.read("rank", network.lora.rank);
    lora.read("alpha", network.lora.alpha);
    lora.read("targets", network.lora.targets);
    lora.check();
  }
}

JudgeForm parse_judge(const std::string& form, const std::string& name) {
  if (form == "none") return JudgeForm::none;
  if (form == "pairs") return JudgeForm::pairs;
  if (form == "choice") return JudgeForm::choice;
  throw Error("{}: 'judge' must be none (a reward model), pairs or choice, got '{}'.", name, form);
}

void check_ranges(const RewardTrainingConfig& config, const std::string& name) {
  const auto require = [&](bool holds, const char* rule) {
    if (!holds) throw Error("{}: {}", name, rule);
  };
  require(!config.output.empty(), "'output' is missing: the folder to write.");
  require(!config.data.empty(), "'data' is missing: files of preferences, as agon make-preferences writes them.");
  require(config.epochs >= 1 && config.batch >= 1 && config.checkpoint_steps >= 1,
          "'epochs', 'batch' and 'checkpoint_steps' must be at least 1.");
  agents::check_optimizer(
      name,
      {.learning_rate = config.learning_rate, .weight_decay = config.weight_decay, .clip_norm = config.clip_norm});
  require(config.imitation >= 0, "'imitation' must be at least 0.");
  require(config.held_out >= 0 && config.held_out < 1, "'held_out' must lie in [0, 1).");
}

// Checks keys that only one kind of model uses: a judge trains all weights of its base and has no reward head.
void check_used(const RewardTrainingConfig& config, const std::string& name) {
  const RewardTrainingConfig standard;
  const agents::RewardNetworkSettings &network = config.network, &plain = standard.network;
  const bool scores = config.judge == JudgeForm::none;
  const std::string why = "with judge: " + std::string(config.judge == JudgeForm::pairs ? "pairs" : "choice");
  const std::vector<std::pair<const char*, bool>> of_scores{
      {"responses", network.joint != plain.joint},
      {"representation", network.representation != plain.representation},
      {"head", network.head != plain.head},
      {"inner", network.inner != plain.inner},
      {"likelihood", network.likelihood != plain.likelihood},
      {"lora", network.lora.rank != plain.lora.rank || network.lora.alpha != plain.lora.alpha ||
                   network.lora.targets != plain.lora.targets},
      {"loss", config.loss != standard.loss},
      {"imitation", config.imitation != standard.imitation},
      {"shuffle", config.shuffle != standard.shuffle},
      {"held_out", config.held_out != standard.held_out}};
  for (const auto& [key, set] : of_scores)
    agents::require_used(name, {{key, set, scores, why, "train a reward model (judge: none)"}});
  agents::require_used(name, {{"inner", network.inner != plain.inner, network.head != agents::HeadKind::linear,
                               "with head: linear, which is one layer", "choose another head"}});
}

}  // namespace

RewardTrainingConfig load_reward_training(const fs::path& file, std::span<const std::string> changes) {
  RewardTrainingConfig config;
  config.source = agents::read_config(file, changes, kRewardTrainingPaths);
  agents::ConfigSection section(config.source, "train-rm: " + file.string());
  std::string output, judge = "none", loss = "cross-entropy";
  std::vector<std::string> data;
  section.read("output", output);
  section.read("data", data);
  section.read("weights", config.weights);
  read_network(section, file, config.network);
  section.read("judge", judge);
  section.read("loss", loss);
  section.read("imitation", config.imitation);
  section.read("shuffle", config.shuffle);
  section.read("held_out", config.held_out);
  section.read("seed", config.seed);
  section.read("epochs", config.epochs);
  section.read("batch", config.batch);
  section.read("learning_rate", config.learning_rate);
  section.read("weight_decay", config.weight_decay);
  section.read("clip_norm", config.clip_norm);
  section.read("checkpoint_steps", config.checkpoint_steps);
  section.read_threads(config.threads);
  section.check();
  config.loss = agents::parse_ranking_loss(loss);
  config.judge = parse_judge(judge, section.name());
  if (!output.empty()) config.output = agents::from_working_folder(file, output);
  for (const std::string& one : data) config.data.push_back(agents::from_working_folder(file, one));
  require_each_path_once(section.name() + ": 'data':", config.data);
  check_ranges(config, section.name());
  check_used(config, section.name());
  return config;
}

Json training_provenance(const RewardTrainingConfig& config) {
  Json about{
      {"policy", {{"path", config.network.base.string()}, {"files", agents::model_fingerprint(config.network.base)}}},
      {"files", Json::array()}};
  for (const fs::path& file : config.data)
    about["files"].push_back(
        {{"path", fs::absolute(file).lexically_normal().string()}, {"hash", hash_of(read_file(file.string()))}});
  return provenance(std::move(about));
}

Json training_settings(Json config, const Json& provenance) {
  const auto at = [](const Json& json, const char* key) { return json.is_object() ? json.value(key, Json()) : Json(); };
  if (!config.is_object()) return {};
  for (const char* key : kNoSettings) config.erase(key);
  config["model files"] = at(at(provenance, "policy"), "files");
  config["data files"] = Json::array();
  for (const Json& file : at(provenance, "files")) config["data files"].push_back(at(file, "hash"));
  return config;
}

std::string training_fingerprint(const RewardTrainingConfig& config, const std::string& base_weights) {
  Json settings = config.source;
  for (const char* key : kNoSettings) settings.erase(key);
  std::string text = settings.dump() + base_weights;
  for (const fs::path& file : config.data) text += hash_of(read_file(file.string()));
  return hash_of(text);
}

Json train_reward_model(const RewardTrainingConfig& config, const std::atomic<bool>& stop) {
  RewardTrainer trainer(config);
  if (Json notes = trainer.finished(); !notes.is_null()) {
    agents::remove_checkpoint(config.output);  // left by a training run that was killed just before
    return notes;
  }
  if (!trainer.train(stop)) return {};
  return trainer.finish();
}

}  // namespace agon::critic
