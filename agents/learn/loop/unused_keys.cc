#include "agents/learn/loop/unused_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>

#include "agents/learn/credit/unused_settings.h"
#include "core/error.h"
#include "core/text.h"
#include "env/wrappers/role.h"

namespace agon::agents {
namespace {

// Properties of a training run that the checks of keys use.
class Training {
 public:
  Training(const TrainConfig& config, const Json& resolved, const Json& standard)
      : config_(config), resolved_(resolved), standard_(standard) {
    settings_.push_back(config.credit);
    for (const CreditStage& stage : config.stages) settings_.push_back(stage.settings);
  }

  bool is_set(const std::string& key) const { return at(resolved_, key) != at(standard_, key); }
  // Whether it holds for the method with its settings in some stage.
  bool in_some_stage(const std::function<bool(const std::string& method, const Json& settings)>& holds) const {
    return std::any_of(settings_.begin(), settings_.end(),
                       [&](const Json& settings) { return holds(config_.method, settings); });
  }
  bool some_credit(const std::function<bool(const CreditAssigner& credit)>& holds) const {
    return in_some_stage(
        [&](const std::string& method, const Json& settings) { return holds(*make_credit(method, settings)); });
  }
  bool some_source(const std::function<bool(const TrainSource& source)>& holds) const {
    return std::any_of(config_.sources.begin(), config_.sources.end(), holds);
  }
  // Whether the policy plays tasks, to learn from its texts or to choose tasks.
  bool plays() const { return config_.filter_offline || learns_from_own(); }
  bool learns_from_own() const {
    return some_source([](const TrainSource& source) { return !source.expert; });
  }
  const TrainConfig& config() const { return config_; }
  std::span<const Json> settings() const { return settings_; }  // of the method: the initial ones, then each stage's
  const Json& resolved() const { return resolved_; }

 private:
  static Json at(const Json& json, const std::string& key) {
    const Json* found = &json;
    for (const std::string& part : split(key, ".")) found = &found->at(part);
    return *found;
  }

  const TrainConfig& config_;
  const Json &resolved_, &standard_;
  std::vector<Json> settings_;
};

// Whether the source has expert turns with searches. Such suites have a baseline that searches for the question
// ("rag").
bool compares_queries(const TrainSource& source) {
  const auto& baselines = source.suite.info().baselines;
  return source.expert_turn && std::ranges::find(baselines, "rag") != baselines.end();
}

void require_loss_keys(const Training& training) {
  const bool imitates = training.some_credit([](const CreditAssigner& credit) { return credit.imitates(); });
  const bool kl = training.in_some_stage(has_kl);
  const std::string of_method = "with method: " + training.config().method;
  const auto use = [&](const char* key, bool used, std::string why, std::string instead = {}) {
    return KeyUse{key, training.is_set(key), used, std::move(why), std::move(instead)};
  };
  const auto of_kl = [&](const char* key) {
    return use(key, kl, of_method + " without KL", "choose a method and settings with a KL term (docs/credit.md)");
  };
  require_used("train", {use("loss.clip_low", !imitates, of_method + ", which imitates"),
                         use("loss.clip_high", !imitates, of_method + ", which imitates"), of_kl("loss.kl_estimator"),
                         of_kl("loss.kl_clamp"), of_kl("reference")});
}

void require_reward_keys(const Training& training) {
  const bool pays = training.some_credit([](const CreditAssigner& credit) { return credit.uses_reward(); });
  const std::string why = "with method: " + training.config().method + ", which looks at right and wrong alone";
  for (const char* key : {"reward_model", "rewards"})
    require_used("train", {{key, training.is_set(key), pays, why, "choose another method"}});
  const bool tools =
      training.some_source([](const TrainSource& source) { return !source.suite.info().baselines.empty(); });
  require_used("train", {{"rewards.tool", training.config().rewards.contains("tool"), tools,
                          "where no source has tools", "add a source with tools"}});
}

void require_sampling_keys(const Training& training) {
  const TrainConfig& config = training.config();
  const bool samples = training.plays() || config.evaluation.every > 0;
  for (const char* key : {"sampling.top_p", "sampling.top_k", "sampling.max_tokens"})
    require_used("train", {{key, training.is_set(key), samples,
                            "where every source shows its expert and nothing is evaluated", "let a source play"}});
}

void require_probe_keys(const Training& training) {
  const auto weighs = [&](const std::function<bool(const CreditAssigner& credit)>& needs) {
    return training.in_some_stage([&](const std::string& method, const Json& settings) {
      return settings.value("lambda_p", 1.0) != 0 && needs(*make_credit(method, settings));
    });
  };
  const bool asks = weighs([](const CreditAssigner& credit) { return credit.needs_confidence(); });
  const bool looks = weighs([](const CreditAssigner& credit) { return credit.needs_visual(); });
  const bool zero =
      training.some_credit([](const CreditAssigner& credit) { return credit.needs_confidence(); }) && !asks;
  const std::string why = "with method: " + training.config().method + (zero ? " and credit.lambda_p: 0" : "");
  for (const char* key : {"probes.suffix", "probes.steps", "probes.per_token_mean"})
    require_used("train", {{key, training.is_set(key), asks, why, "choose a method that credits steps, pdcr or pacr"}});
  require_used("train", {{"probes.picture", training.is_set("probes.picture"), looks,
                          why + (asks ? " and a split that does not look at pictures" : ""),
                          "let pdcr split by what the picture adds"}});
}

void require_schedule_keys(const Training& training) {
  const TrainConfig& config = training.config();
  const auto use = [&](const char* key, bool used, std::string why, std::string instead) {
    return KeyUse{key, training.is_set(key), used, std::move(why), std::move(instead)};
  };
  std::vector<KeyUse> uses{
      use("optimizer.final_rate", config.optimizer.schedule == "cosine", "with optimizer.schedule: constant",
          "set optimizer.schedule to cosine"),
      use("lora.alpha", config.lora.rank > 0, "with lora.rank: 0", "give a lora.rank above 0"),
      use("filter.offline_tasks", config.filter_offline, "with filter.offline: false", "set filter.offline to true"),
      use("filter.resample", training.in_some_stage(drops_groups),
          "with method: " + config.method + ", which drops no group by these settings",
          "choose dapo with dynamic_sampling, or adapo with filters"),
      use("filter.resample", training.learns_from_own(), "where every source shows its expert", "let a source play"),
      use("similarity", training.some_source(compares_queries),
          "without a source that has expert_turn and an expert who searches", "give lookup an expert_turn"),
      use("samples", training.plays(), "where every source shows its expert", "let a source play")};
  for (const char* key : {"evaluation.split", "evaluation.tasks", "evaluation.samples", "evaluation.metric"})
    uses.push_back(
        use(key, config.evaluation.every > 0, "with evaluation.every: 0", "set evaluation.every to a number of steps"));
  require_used("train", uses);
}

void require_source_keys(const Training& training) {
  for (const TrainSource& source : training.config().sources) {
    const env::SuiteOptions& options = source.suite.options();
    const bool answers_again = options.two_turn || options.role == "refiner";
    require_used("train: source " + source.label(),
                 {{"file", !options.file.empty(), source.suite.info().takes_file,
                   "for suite " + source.suite.name() + ", which draws its tasks itself"},
                  {"reexamine", !options.reexamine.empty(), answers_again, "where a task is answered once",
                   "set two_turn to true"}});
  }
}

// Refuses settings of the method that change nothing in any stage in which they are set.
void require_settings(const std::string& where, const std::string& method, const Json& given,
                      std::span<const Json> stages) {
  const Json standard = credit_settings(method);
  for (const auto& [name, value] : given.items()) {
    std::string why;
    const bool used = std::ranges::any_of(stages, [&, &name = name](const Json& settings) {
      const auto all_unused = unused_settings(method, settings);
      const auto found = std::ranges::find(all_unused, name, &UnusedSetting::name);
      if (found != all_unused.end()) why = found->why;
      return found == all_unused.end();
    });
    require_used(where, {{"credit." + name, value != standard.at(name), used, why}});
  }
}

// A stage's settings hold in it and in later stages.
void require_credit_settings(const Training& training) {
  const TrainConfig& config = training.config();
  const std::span<const Json> settings = training.settings();
  require_settings("train", config.method, training.resolved().at("credit"), settings);
  const bool given = training.resolved().at("credit").value("of", "right") != "right";
  require_used("train", {{"credit.of", given, training.learns_from_own(),
                          "where every source shows its expert, who is right", "let a source play"}});
  for (std::size_t i = 0; i < config.stages.size(); ++i) {
    const std::int64_t from = config.stages[i].from_step;
    if (from >= config.steps)
      throw Error(
          "train: 'stages': the one from step {} never begins, since 'steps' is {}. Leave it out, or raise 'steps'.",
          from, config.steps);
    if (settings[i] == settings[i + 1])
      throw Error(
          "train: 'stages': the one from step {} changes no setting of the credit. Leave it out, or give it one.",
          from);
    require_settings(fmt::format("train: 'stages': from step {}", from), config.method,
                     training.resolved().at("stages").at(i).at("credit"), settings.subspan(i + 1));
  }
}

}  // namespace

void require_used(const std::string& where, const std::vector<KeyUse>& uses) {
  for (const KeyUse& use : uses)
    if (use.set && !use.used)
      throw Error("{}: '{}' does nothing {}. Leave it out{}.", where, use.key, use.why,
                  use.instead.empty() ? "" : ", or " + use.instead);
}

void require_used_keys(const TrainConfig& config, const Json& resolved, const Json& standard) {
  const Training training(config, resolved, standard);
  require_source_keys(training);
  require_credit_settings(training);
  require_loss_keys(training);
  require_reward_keys(training);
  require_sampling_keys(training);
  require_probe_keys(training);
  require_schedule_keys(training);
}

}  // namespace agon::agents
