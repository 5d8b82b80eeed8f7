#include "agents/learn/loop/train.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>

#include "agents/engine/local_policy.h"
#include "agents/learn/data/task_source.h"
#include "agents/learn/data/trajectory.h"
#include "agents/learn/loop/checkpoint_folder.h"
#include "agents/learn/loop/event_file.h"
#include "agents/learn/loop/learning_rate.h"
#include "agents/learn/loop/train_metrics.h"
#include "agents/learn/loop/train_model.h"
#include "agents/model_fingerprint.h"
#include "agents/rollout.h"
#include "agents/run_summary.h"
#include "core/error.h"
#include "core/file.h"
#include "core/progress.h"
#include "core/provenance.h"
#include "core/rng.h"
#include "core/statistics.h"
#include "core/text.h"
#include "record/run_database.h"
#include "record/run_schema.h"

namespace agon::agents {
namespace {

using std::filesystem::path;
using Clock = std::chrono::steady_clock;
using Groups = std::vector<const TrainGroup*>;
using Logprobs = std::vector<std::vector<std::vector<float>>>;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double wall_clock() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

LearningRate learning_rate(const OptimizerConfig& optimizer, std::int64_t steps) {
  return {.peak = optimizer.learning_rate,
          .warmup_steps = optimizer.warmup_steps,
          .decay = optimizer.schedule == "cosine" ? Decay::cosine : Decay::none,
          .final_share = optimizer.final_rate,
          .decay_steps = std::max<std::int64_t>(1, steps - 1 - optimizer.warmup_steps)};
}

bool any_has_kl(std::span<const TrainGroup> groups) {
  for (const TrainGroup& group : groups)
    for (const TokenCredit& credit : group.credit.rollouts)
      for (const float kl : credit.kl)
        if (kl != 0) return true;
  return false;
}

// The credit of a roll-out's tokens, cut into its turns.
void note_credit(record::Episode& episode, const TrainRollout& rollout, const TokenCredit& credit,
                 const Tokenizer& tokenizer) {
  auto place = rollout.turn_begins.begin();
  for (record::Turn& written : episode.turns) {
    if (written.given) continue;
    const auto cut = [&, first = *place](const std::vector<float>& values) {
      const auto begin = values.begin() + first;
      return std::vector<float>(begin, begin + std::ssize(written.token_ids));
    };
    ++place;
    written.credit = {text_bytes_of(written.text, written.token_ids, tokenizer), cut(credit.advantage),
                      cut(credit.weight), cut(credit.kl)};
  }
}

// The run's models by path and hash, for its provenance.
Json models_of(const TrainConfig& config) {
  Json models = Json::object();
  const auto add = [&](const char* name, const std::filesystem::path& folder) {
    if (folder.empty()) return;
    models[name] = {{"path", std::filesystem::absolute(folder).lexically_normal().string()},
                    {"files", model_fingerprint(folder)}};
  };
  add("policy", config.policy);
  add("reference", config.reference);
  add("reward_model", config.reward_model);
  return models;
}

class Trainer {
 public:
  Trainer(const TrainConfig& config, Resume resume, const std::atomic<bool>& stop, const GameSourceFactory& games,
          ResponseScorer* scorer)
      : config_(config),
        stop_(stop),
        folder_(open_model_folder(config.policy)),
        model_(config, folder_),
        store_(open_store(resume)) {
    at::manual_seed(config.seed);
    for (std::size_t i = 0; i < config.sources.size(); ++i)
      sources_.push_back(config.sources[i].game ? games(config_, i, folder_)
                                                : std::make_unique<TaskSource>(config_, i, folder_, scorer));
    if (const path checkpoint = find_checkpoint(config.output); !checkpoint.empty()) restore(checkpoint);
    store_->forget_after(step_);
    events_.emplace(config.output, wall_clock(), step_ == 0 && evaluated_step_ < 0 ? 0 : step_ + 1);
    const LocalPolicyOptions options{.threads = config.threads};
    if (config.engine_shares)
      policy_.emplace(folder_, model_.sharing_backend(), options);
    else
      policy_.emplace(folder_, model_.engine_weights(), options);
  }

  bool train() {
    if (!begun_) begin();
    Progress progress("train " + config_.method, config_.steps, "steps", step_);
    while (!stop_) {
      if (evaluation_is_due() && !evaluate()) break;
      if (step_ == config_.steps || !step()) break;
      if (step_ % config_.checkpoint_steps == 0 && step_ < config_.steps) checkpoint();
      progress.add(1, note_);
    }
    checkpoint();
    if (stop_) return false;
    model_.save(config_.output / "model");
    store_->finish(last_evaluation_);
    return true;
  }

 private:
  std::unique_ptr<record::EpisodeStore> open_store(Resume resume) const {
    require_of_command(config_.output, "train");
    remove_empty_run(config_.output);
    if (resume == Resume::no && std::filesystem::exists(config_.output / record::kRunDatabase))
      throw Error("train: {} holds a run already. Resume it with --resume, or choose another 'output'.",
                  config_.output.string());
    Json recorded = config_.resolved;
    recorded[kProvenance] = models_of(config_);
    return record::EpisodeStore::create(config_.output, recorded, resume == Resume::yes);
  }

  // Runs once, before the first step; if interrupted, it starts anew after a resume.
  void begin() {
    try_one_group();
    const Json before = positions();
    if (config_.filter_offline)
      for (const auto& source : sources_) source->choose_tasks(*policy_, &stop_);
    begun_ = !stop_;
    if (!begun_) restore_positions(before);
  }

  // Reports settings that do not fit each other (a reward that no task gives, a two-turn method on one-turn tasks)
  // before training.
  void try_one_group() {
    const Json before = positions();
    for (const auto& source : sources_) {
      PlayedGroups played = source->play(*policy_, 1, 0, &stop_);
      const int failed = played.failed;
      if (!played.groups.empty() && !stop_) assign_credit(played);
      if (played.failed > failed) throw Error("train: {}: {}", source->source().label(), played.failure);
    }
    restore_positions(before);
  }

  bool evaluation_is_due() const {
    const std::int64_t every = config_.evaluation.every;
    return every > 0 && evaluated_step_ != step_ && (step_ % every == 0 || step_ == config_.steps);
  }

  // Does one step. If asked to stop, changes nothing and returns false.
  bool step() {
    const Json before = positions();
    seconds_ = {};
    PlayedGroups played = play();
    std::vector<TrainGroup>& groups = played.groups;
    if (stop_) {
      restore_positions(before);
      return false;
    }
    note_failures(played);
    note_steps(groups);
    record::Metrics metrics = rollout_metrics(groups, config_.method, config_.rewards);
    metrics.emplace_back("groups/failed", played.failed);
    const Clock::time_point start = Clock::now();
    update(groups, metrics);
    renew_policy();
    metrics.emplace_back("time/rollout", seconds_.rollout);
    if (seconds_.probe > 0) metrics.emplace_back("time/probe", seconds_.probe);
    metrics.emplace_back("time/update", seconds_since(start));
    add_speed(groups, seconds_.rollout, metrics);
    ++step_;
    if (config_.record_every > 0 && step_ % config_.record_every == 0) record(groups);
    log(metrics);
    return true;
  }

  // Gives the policy the current weights.
  void renew_policy() {
    if (config_.engine_shares)
      policy_->change_weights([](ModelBackend&) {});
    else
      policy_->set_weights(model_.engine_weights());
  }

  PlayedGroups play() {
    PlayedGroups played;
    for (const auto& source : sources_) play_source(*source, source->source().prompts, 0, played);
    assign_credit(played);
    for (int again = 1; again <= config_.resample && !stop_; ++again) play_again(played, again);
    return played;
  }

  // A failed group is left out. If every group of several steps in a row fails, the training ends with an Error.
  void note_failures(const PlayedGroups& played) {
    constexpr int kPatience = 3;
    if (played.failed > 0 && !std::exchange(has_failed_, true))
      std::fputs(fmt::format("train: a group of step {} failed and is left out; see groups/failed. {}\n", step_,
                             played.failure)
                     .c_str(),
                 stderr);
    empty_steps_ = played.groups.empty() ? empty_steps_ + 1 : 0;
    if (empty_steps_ == kPatience)
      throw Error("train: every group of steps {} to {} failed; the last: {}", step_ + 1 - kPatience, step_,
                  played.failure);
  }

  // again: number of the draw within this step; a task repeated in another draw is sampled anew.
  void play_source(GroupSource& source, int count, int again, PlayedGroups& played) {
    const Clock::time_point start = Clock::now();
    const auto round = static_cast<std::uint64_t>(step_ * (config_.resample + 1) + again);
    PlayedGroups more = source.play(*policy_, count, round, &stop_);
    if (!more.failure.empty()) played.fail(std::move(more.failure), more.failed);
    for (TrainGroup& group : more.groups) played.groups.push_back(std::move(group));
    seconds_.rollout += seconds_since(start);
  }

  // Replaces groups that the method filters by new tasks.
  void play_again(PlayedGroups& played, int again) {
    for (const auto& source : sources_) {
      int kept = 0;
      for (const TrainGroup& group : played.groups)
        kept += &config_.sources[group.source] == &source->source() && group.credit.filtered.empty();
      const int missing = source->source().prompts - kept;
      if (missing <= 0) continue;
      play_source(*source, missing, again, played);
    }
    assign_credit(played);
  }

  // Assigns credit; a group that cannot get credit counts as failed.
  void assign_credit(PlayedGroups& played) {
    const auto credit = credit_now();
    std::vector<CreditGroup> views = make_views(played), taken;
    auto view = views.begin();
    played.use_each([&](const TrainGroup&) {
      CreditGroup& own = *view++;
      credit->assign(own);  // throws if the method cannot use it
      taken.push_back(std::move(own));
    });
    for (std::size_t source = 0; source < sources_.size(); ++source) credit_source(source, played.groups, taken);
  }

  // The groups in the form that credit needs. A group that cannot be probed counts as failed.
  std::vector<CreditGroup> make_views(PlayedGroups& played) {
    const bool probed = credit_now()->needs_confidence();
    const ProbeSettings settings{config_.probe_suffix, credit_now()->needs_visual(), config_.probe_picture,
                                 config_.seed};
    std::vector<CreditGroup> views;
    std::vector<ProbeGroup> probes;
    played.use_each([&](const TrainGroup& group) {
      CreditGroup view = credit_group(group, config_.rewards, *folder_.tokenizer);
      if (probed) probes.push_back(make_probe_group(group, folder_, settings));
      views.push_back(std::move(view));
    });
    if (probed) probe(probes, views);
    return views;
  }

  // A method pools over the groups of one source, not of the batch: suites and roles differ in scale.
  void credit_source(std::size_t source, std::vector<TrainGroup>& groups, const std::vector<CreditGroup>& views) const {
    std::vector<std::size_t> places;
    std::vector<CreditGroup> own;
    for (std::size_t i = 0; i < groups.size(); ++i)
      if (groups[i].source == source) {
        places.push_back(i);
        own.push_back(views[i]);
      }
    std::vector<GroupCredit> credits = credit_now()->assign_batch(own);
    for (std::size_t i = 0; i < places.size(); ++i) groups[places[i]].credit = std::move(credits[i]);
  }

  // Warns once if no roll-out has several steps to split.
  void note_steps(const std::vector<TrainGroup>& groups) {
    if (has_said_steps_ || groups.empty() || !credit_now()->needs_confidence() || !is_single_step(groups)) return;
    has_said_steps_ = true;
    std::fputs(
        fmt::format(
            "train: {}: no roll-out of step {} has more than one step, so its tokens get no credit of "
            "their own. Steps end where 'probes.steps' ({}) says; choose a rule that splits what this policy writes.\n",
            config_.method, step_, config_.resolved["probes"]["steps"].get<std::string>())
            .c_str(),
        stderr);
  }

  // Probes the policy after each step of each roll-out.
  void probe(const std::vector<ProbeGroup>& probes, std::vector<CreditGroup>& views) {
    const Clock::time_point start = Clock::now();
    std::vector<std::vector<StepProbes>> found = model_.probe(probes);
    for (std::size_t g = 0; g < views.size() && config_.probe_mean; ++g) take_token_means(probes[g], found[g]);
    for (std::size_t g = 0; g < views.size(); ++g)
      for (std::size_t i = 0; i < views[g].size(); ++i) {
        views[g][i].step_confidence = std::move(found[g][i].confidence);
        views[g][i].step_visual = std::move(found[g][i].visual);
      }
    seconds_.probe += seconds_since(start);
  }

  std::unique_ptr<CreditAssigner> credit_now() const {
    const Json* settings = &config_.credit;
    for (const CreditStage& stage : config_.stages)
      if (step_ >= stage.from_step) settings = &stage.settings;
    return make_credit(config_.method, *settings);
  }

  // epochs x minibatches optimiser steps on the groups; each minibatch holds every minibatches-th group of a shuffle.
  void update(const std::vector<TrainGroup>& groups, record::Metrics& metrics) {
    const auto credit = credit_now();
    Clip clip = credit->clip();
    clip.low = config_.clip_low.value_or(clip.low);
    clip.high = config_.clip_high.value_or(clip.high);
    Groups all;
    for (const TrainGroup& group : groups) all.push_back(&group);
    note_trained(groups);
    const Logprobs reference = any_has_kl(groups) ? model_.reference_logprobs(all) : Logprobs();
    const double rate = rate_at(learning_rate(config_.optimizer, config_.steps), step_);
    std::vector<UpdateFigures> figures;
    for (int epoch = 0; epoch < config_.epochs; ++epoch)
      for (const std::vector<std::size_t>& places : minibatches(groups.size(), epoch))
        figures.push_back(update_on(all, reference, places, rate, clip, credit->imitates()));
    for (auto& metric : update_metrics(figures, rate)) metrics.push_back(std::move(metric));
  }

  // A step with nothing to learn is not an error. If the first steps all have nothing to learn, one warning gives the
  // reasons.
  void note_trained(const std::vector<TrainGroup>& groups) {
    constexpr std::int64_t kPatience = 10;
    if (has_learned_) return;
    for (const TrainGroup& group : groups) {
      has_learned_ = has_learned_ || has_gradient(group);
      if (!has_gradient(group)) ++idle_[group.credit.filtered.empty() ? "equal rewards" : group.credit.filtered];
    }
    if (has_learned_ || step_ + 1 != std::min(kPatience, config_.steps)) return;
    std::vector<std::string> reasons;
    for (const auto& [reason, count] : idle_) reasons.push_back(fmt::format("{} ({} groups)", reason, count));
    std::fputs(fmt::format("train: nothing was learned in {} steps: {}. Are there several 'samples' to compare ({} "
                           "now), and is the level neither too easy nor too hard?\n",
                           step_ + 1, fmt::join(reasons, ", "), config_.samples)
                   .c_str(),
               stderr);
  }

  UpdateFigures update_on(const Groups& all, const Logprobs& reference, const std::vector<std::size_t>& places,
                          double rate, Clip clip, bool imitates) {
    Groups groups;
    Logprobs base;
    for (const std::size_t place : places) {
      groups.push_back(all[place]);
      if (!reference.empty()) base.push_back(reference[place]);
    }
    try {
      return model_.update(groups, base, rate, clip, imitates);
    } catch (const Error& error) {
      save_bad_batch(groups, error.what());
      throw Error("train: step {}: {} The batch is in {}.", step_, error.what(),
                  (config_.output / "bad_batch.json").string());
    }
  }

  std::vector<std::vector<std::size_t>> minibatches(std::size_t groups, int epoch) const {
    std::vector<std::size_t> order(groups);
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto parts = static_cast<std::size_t>(config_.minibatches);
    if (parts > 1)
      Rng::derive(config_.seed, "minibatches", std::to_string(step_), static_cast<std::uint64_t>(epoch)).shuffle(order);
    std::vector<std::vector<std::size_t>> result(std::min(parts, groups));
    for (std::size_t i = 0; i < groups; ++i) result[i % result.size()].push_back(order[i]);
    return result;
  }

  void save_bad_batch(const Groups& groups, const std::string& why) const {
    Json json{{"step", step_}, {"error", why}, {"groups", Json::array()}};
    for (const TrainGroup* group : groups) {
      Json rollouts = Json::array();
      for (std::size_t i = 0; i < group->rollouts.size(); ++i) {
        const TokenCredit& credit = group->credit.rollouts[i];
        rollouts.push_back({{"token_ids", group->rollouts[i].response.ids},
                            {"logprobs", group->rollouts[i].logprobs},
                            {"reward", group->episodes[i].reward},
                            {"advantage", credit.advantage},
                            {"kl", credit.kl},
                            {"weight", credit.weight}});
      }
      json["groups"].push_back({{"task", group->episodes.front().task_id}, {"rollouts", std::move(rollouts)}});
    }
    write_file_atomically((config_.output / "bad_batch.json").string(), json.dump());
  }

  static void add_speed(const std::vector<TrainGroup>& groups, double seconds, record::Metrics& metrics) {
    double tokens = 0;
    for (const TrainGroup& group : groups)
      for (const record::Episode& episode : group.episodes)
        for (const record::Turn& turn : episode.turns) tokens += static_cast<double>(turn.token_ids.size());
    metrics.emplace_back("speed/tokens_per_second", tokens / seconds);
  }

  void record(std::vector<TrainGroup>& groups) {
    for (TrainGroup& group : groups)
      for (std::size_t i = 0; i < group.episodes.size(); ++i) {
        record::Episode& episode = group.episodes[i];
        note_credit(episode, group.rollouts[i], group.credit.rollouts[i], *folder_.tokenizer);
        episode.train_step = step_;
        store_->record(std::move(episode));
      }
  }

  void log(const record::Metrics& metrics) {
    store_->record_metrics(step_, metrics);
    events_->add(step_, wall_clock(), metrics);
    static constexpr std::pair<const char*, const char*> kShown[] = {{"reward/success", "success"},
                                                                     {"reward/trained", "reward"},
                                                                     {"policy/entropy", "entropy"},
                                                                     {"policy/kl", "kl"},
                                                                     {"length/mean", "tokens"}};
    note_.clear();
    for (const auto& [name, label] : kShown)
      for (const auto& [metric, value] : metrics)
        if (metric == name) note_ += fmt::format("{}{} {:.3g}", note_.empty() ? "" : ", ", label, value);
    note_ += evaluation_note_;
  }

  // If asked to stop, records nothing and returns false.
  bool evaluate() {
    const Clock::time_point start = Clock::now();
    record::Metrics metrics;
    std::vector<double> figures;  // of the sources that have the figure (no AUC without scores)
    const auto sources = evaluated_sources(config_.sources);
    for (const auto& [name, source] : sources) {
      const RunSummary summary = evaluate(*source);
      if (stop_) return false;
      last_evaluation_[name] = to_json(summary);
      const std::string group = evaluation_group(config_.evaluation.split, name);
      for (auto& metric : evaluation_metrics(summary, group)) {
        if (metric.first == group + config_.evaluation.metric) figures.push_back(metric.second);
        metrics.push_back(std::move(metric));
      }
    }
    // NaN, and never the best, unless all sources have one: means over different sources are not comparable.
    const double figure = figures.size() == sources.size() ? mean(figures) : std::nan("");
    evaluation_note_ =
        fmt::format(", {} {} {:.3f}", env::to_string(config_.evaluation.split), config_.evaluation.metric, figure);
    metrics.emplace_back("time/eval", seconds_since(start));
    store_->record_metrics(step_, metrics);
    events_->add(step_, wall_clock(), metrics);
    // A model chosen on the test split would have no unbiased figure left.
    const bool chooses = config_.evaluation.split == env::Split::validation;
    if (chooses && !std::isnan(figure) && (!best_ || figure > *best_)) {
      best_ = figure;
      model_.save(config_.output / "best");
    }
    evaluated_step_ = step_;
    return true;
  }

  RunSummary evaluate(const TrainSource& source) {
    RolloutOptions options{.suite = source.suite};
    options.split = config_.evaluation.split;
    options.tasks = config_.evaluation.tasks;
    options.samples = config_.evaluation.samples;
    options.sampling = config_.sampling;
    std::mutex mutex;
    std::vector<EpisodeOutcome> outcomes;
    const Clock::time_point start = Clock::now();
    agents::play(
        *policy_, options, {},
        [&](const record::Episode& episode) {
          const std::lock_guard lock(mutex);
          outcomes.push_back(outcome_of(episode));
        },
        &stop_);
    return summarize({{"suite", source.suite.name()},
                      {"split", env::to_string(config_.evaluation.split)},
                      {"level", source.level},
                      {"seed", 0}},
                     outcomes, seconds_since(start));
  }

  Json positions() const {
    Json list = Json::array();
    for (const auto& source : sources_) list.push_back(source->position());
    return list;
  }
  void restore_positions(const Json& list) {
    for (std::size_t i = 0; i < sources_.size(); ++i) sources_[i]->restore(list.at(i));
  }

  void checkpoint() {
    store_->flush();
    events_->flush();
    write_checkpoint(config_.output, [&](const path& folder) {
      model_.save_training_state(folder);
      const Json state{{"step", step_},
                       {"begun", begun_},
                       {"evaluated", evaluated_step_},
                       {"best", best_ ? Json(*best_) : Json()},
                       {"has_learned", has_learned_},
                       {"last_evaluation", last_evaluation_},
                       {"sources", positions()}};
      write_file_atomically((folder / "state.json").string(), state.dump());
    });
  }

  void restore(const path& checkpoint) {
    model_.load_training_state(checkpoint);
    const Json state = read_state(checkpoint);
    try {
      step_ = state.at("step");
      begun_ = state.at("begun");
      evaluated_step_ = state.at("evaluated");
      if (state.at("best").is_number()) best_ = state.at("best").get<double>();
      has_learned_ = state.at("has_learned");
      last_evaluation_ = state.at("last_evaluation");
      restore_positions(state.at("sources"));
    } catch (const Json::exception&) {
      throw damaged_checkpoint(checkpoint);
    }
  }

  const TrainConfig& config_;
  const std::atomic<bool>& stop_;
  const ModelFolder folder_;
  TrainModel model_;
  std::unique_ptr<record::EpisodeStore> store_;
  std::vector<std::unique_ptr<GroupSource>> sources_;
  std::optional<EventFile> events_;
  std::optional<LocalPolicy> policy_;
  std::int64_t step_ = 0;  // steps done
  bool begun_ = false;     // begin() is over
  std::int64_t evaluated_step_ = -1;
  std::optional<double> best_;
  bool has_learned_ = false;         // a group had a gradient
  std::map<std::string, int> idle_;  // until then: reasons why groups had none
  struct {
    double rollout = 0, probe = 0;
  } seconds_;  // of the step under way
  Json last_evaluation_ = Json::object();
  int empty_steps_ = 0;      // consecutive steps until now in which every group failed
  bool has_failed_ = false;  // a group failed, and this was reported
  bool has_said_steps_ = false;
  std::string note_, evaluation_note_;
};

}  // namespace

bool train(const TrainConfig& config, Resume resume, const std::atomic<bool>& stop, const GameSourceFactory& games,
           ResponseScorer* scorer) {
  if (config.output.empty())
    throw Error("train: 'output' is missing: the folder of the run to write. Give it with --set output=runs/NAME.");
  for (const std::string& warning : warnings_of(config)) std::fputs((warning + "\n").c_str(), stderr);
  if (config.threads > 0) at::set_num_threads(config.threads);
  return Trainer(config, resume, stop, games, scorer).train();
}

}  // namespace agon::agents
