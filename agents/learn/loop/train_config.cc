#include "agents/learn/loop/train_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "agents/config_reader.h"
#include "agents/learn/data/response_scorer.h"
#include "agents/learn/loop/config_paths.h"
#include "agents/learn/loop/unused_keys.h"
#include "agents/learn/network/sentence_encoder.h"
#include "core/error.h"
#include "core/text.h"
#include "env/wrappers/critic_role.h"
#include "env/wrappers/role.h"
#include "env/wrappers/sneaky_role.h"

namespace agon::agents {
namespace {

// Every key with its default; docs/train.md explains them.
constexpr const char* kDefaults = R"yaml(
output: ""
policy: models/agon-tiny
seed: 1
steps: 100
threads: 0
device: cpu
precision: auto
engine: cpu
sources: []
samples: 8
sampling: {temperature: 1.0, top_p: 1.0, top_k: 0, max_tokens: 256}
method: grpo
credit: {}
stages: []
rewards: {accuracy: 1.0}
reward_model: ""
loss: {clip_low: ~, clip_high: ~, kl_estimator: k3, kl_clamp: ~, epochs: 1, minibatches: 1, rows_per_pass: 16384}
optimizer: {learning_rate: 1.0e-4, warmup_steps: 0, schedule: constant, final_rate: 0.1, weight_decay: 0.0, beta1: 0.9,
            beta2: 0.99, clip_norm: 1.0}
lora: {rank: 0, alpha: 16.0, targets: "model\\.layers\\.\\d+\\.(self_attn\\.[qkvo]_proj|mlp\\.(gate|up|down)_proj)"
}
reference: ""
similarity: ""
probes: {suffix: "<answer>", picture: white, steps: sentence, per_token_mean: false}
filter: {offline: false, offline_tasks: 1000, resample: 0}
evaluation: {every: 25, split: validation, tasks: 200, samples: 4, metric: pass_at_1}
checkpoint_steps: 25
record_every: 10
)yaml";
constexpr const char* kSourceDefaults =
    R"({suite: "", level: 0, file: "", two_turn: false, reexamine: "", role: solver, prompts: 16, expert: false,
 expert_turn: "", against: "", solvers: []})";
constexpr const char* kStageDefaults = "{from_step: 0, credit: {}}";

bool same_kind(const Json& a, const Json& b) {
  return a.is_null() || (a.is_number() && b.is_number()) || a.type() == b.type();
}

// No integer key is negative or above this; only `seed` may be larger.
constexpr std::int64_t kMostWhole = 1'000'000'000;

bool is_whole(const Json& value) {
  return value.is_number_integer() && value >= 0 && (value.is_number_unsigned() || value.get<std::int64_t>() >= 0) &&
         value <= kMostWhole;
}

// An integer default takes only integers; a fractional default takes any number.
void check_kind(const Json& standard, const Json& value, const std::string& name) {
  if (!same_kind(standard, value))
    throw Error("{}: is {}, expected something like {}", name, value.dump().substr(0, 80), standard.dump());
  const bool seed = name.ends_with("'seed'") && value.is_number_integer();
  if (standard.is_number_integer() && !is_whole(value) && !seed)
    throw Error("{}: is {}, expected a whole number from 0 to {}", name, value.dump(), kMostWhole);
  if (value.is_number() && !std::isfinite(value.get<double>())) throw Error("{}: is not a finite number", name);
}

std::vector<std::string> keys_of(const Json& map) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : map.items()) keys.push_back(key);
  return keys;
}

// `standard` with the values of `given` in it. Mappings whose default is empty (and `rewards`) take any keys.
Json merged(const Json& standard, const Json& given, const std::string& name) {
  if (!given.is_object()) throw Error("{}: expected keys and values, got {}", name, given.dump().substr(0, 80));
  Json result = standard;
  for (const auto& [key, value] : given.items()) {
    if (!standard.contains(key)) throw Error("{}", unknown_name_message(name + ": key", key, keys_of(standard)));
    const std::string full = fmt::format("{}: '{}'", name, key);
    check_kind(standard[key], value, full);
    const bool open = standard[key].empty() || key == "rewards";
    result[key] = standard[key].is_object() && !open ? merged(standard[key], value, full) : value;
  }
  return result;
}

Json merged_list(const char* standard, const Json& list, const std::string& name) {
  Json result = Json::array();
  for (std::size_t i = 0; i < list.size(); ++i)
    result.push_back(merged(parse_yaml_value(standard), list[i], fmt::format("{} {}", name, i)));
  return result;
}

constexpr const char* kPolicyPath[] = {"/policy"};
constexpr const char* kOtherPaths[] = {"/output",         "/reward_model",      "/reference",          "/similarity",
                                       "/sources/*/file", "/sources/*/against", "/sources/*/solvers/*"};
constexpr const char* kOwnPolicy = "models/agon-tiny";  // the model that comes with agon, wherever the config file is
constexpr const char* kSelf = "self";                   // an opponent that is not a path

// The file's keys, with paths relative to the working folder. Before version 0.2 the file's paths were relative to that
// folder: a path that exists only there is still accepted, with a warning.
Json keys_of_file(const std::filesystem::path& file, std::vector<std::string>& warnings) {
  if (file.empty()) return Json::object();
  const auto seen = [&](const std::string& path) {
    if (path == kSelf) return path;
    const std::string beside = from_working_folder(file, path);
    if (beside == path || std::filesystem::exists(beside) || !std::filesystem::exists(path)) return beside;
    warnings.push_back(fmt::format(
        "train: {}: '{}' is taken from the working folder. Paths in a config are relative to its file now: write '{}'.",
        file.string(), path, from_file(file, path)));
    return path;
  };
  Json given = read_yaml(file);
  change_paths(given, kOtherPaths, seen);
  const bool own_policy = given.is_object() && given.value("policy", Json()) == kOwnPolicy;
  if (!own_policy) change_paths(given, kPolicyPath, seen);
  return given;
}

void change(Json& given, const std::string& assignment) {
  // `rewards` takes any keys, so a key set by name is added to the default ones.
  if (assignment.starts_with("rewards.") && !given.contains("rewards"))
    given["rewards"] = parse_yaml_value(kDefaults)["rewards"];
  set_value(given, assignment);
}

void require(bool holds, const std::string& rule, const Json& value) {
  if (!holds) throw Error("train: {}, got {}.", rule, value.dump());
}

std::optional<ExpertTurnRules> read_expert_turn(const Json& entry,
                                                const std::shared_ptr<const env::TextSimilarity>& similarity) {
  const std::string preset = entry["expert_turn"];
  if (preset.empty()) return std::nullopt;
  require(!entry["expert"] && !entry["two_turn"] && entry["role"] == env::kSolver,
          "a source with 'expert_turn' takes neither 'expert' nor 'two_turn' nor a role other than solver", entry);
  return ExpertTurnRules{env::visual_arft_rules(preset), similarity};
}

std::shared_ptr<const env::TextSimilarity> read_similarity(const std::string& folder) {
  return folder.empty() ? env::word_overlap_similarity() : make_sentence_similarity(folder);
}

// A folder of a model that plays in a game.
std::filesystem::path read_player(const Json& entry, const char* key) {
  const std::string folder = entry.is_string() ? entry.get<std::string>() : "";
  if (folder.empty() || !std::filesystem::exists(std::filesystem::path(folder) / "config.json"))
    throw Error("train: '{}' of a source must name a model folder, and {} is not one.", key, entry.dump());
  return folder;
}

std::optional<GameRules> read_game(const Json& entry) {
  const std::string against = entry["against"];
  if (against.empty()) {
    require(entry["solvers"].empty(), "'solvers' of a source need an opponent, 'against: self' or a model folder",
            entry["solvers"]);
    return std::nullopt;
  }
  const std::string role = entry["role"];
  require(role == env::kCritic || role == env::kSneaky, "'against' is for the roles critic and sneaky", entry["role"]);
  require(!entry["expert"], "a source with 'against' takes no 'expert'", entry);
  require(role != env::kCritic || entry["prompts"].get<int>() % 2 == 0,
          "'prompts' of a critic's game must be even: half of its steps are right, half wrong", entry["prompts"]);
  GameRules rules;
  if (against != kSelf) rules.against = read_player(entry["against"], "against");
  for (const Json& solver : entry["solvers"]) rules.solvers.push_back(read_player(solver, "solvers"));
  return rules;
}

std::vector<TrainSource> read_sources(const Json& list, const std::string& similarity_folder) {
  const auto similarity = read_similarity(similarity_folder);
  std::vector<TrainSource> sources;
  for (const Json& entry : list) {
    const auto expert_turn = read_expert_turn(entry, similarity);
    const auto game = read_game(entry);
    require(entry["prompts"] >= 1, "'prompts' of a source must be at least 1", entry["prompts"]);
    const env::Suite suite(entry["suite"],
                           {entry["level"], entry["file"], entry["two_turn"], entry["reexamine"], entry["role"]});
    if (!suite.info().has_train_split)
      throw Error("train: suite '{}' has no train split. Choose one of `agon suites` that has one.", suite.name());
    sources.push_back({suite, entry["level"], entry["prompts"], entry["expert"], expert_turn, game});
  }
  if (sources.empty())
    throw Error("train: 'sources' must list at least one suite, as sources: [{{suite: charts, level: 3}}].");
  return sources;
}

Sampling read_sampling(const Json& json) {
  Sampling sampling;
  sampling.temperature = json["temperature"];
  sampling.top_p = json["top_p"];
  sampling.top_k = json["top_k"];
  sampling.max_tokens = json["max_tokens"];
  require(sampling.temperature > 0, "'temperature' must be above 0 to sample", json["temperature"]);
  require(sampling.top_p > 0 && sampling.top_p <= 1, "'top_p' must lie in (0, 1]", json["top_p"]);
  require(sampling.top_k >= 0, "'top_k' must be at least 0", json["top_k"]);
  require(sampling.max_tokens >= 1, "'max_tokens' must be at least 1", json["max_tokens"]);
  return sampling;
}

OptimizerConfig read_optimizer(const Json& json, std::int64_t steps) {
  OptimizerConfig config{json["learning_rate"], json["warmup_steps"], json["schedule"], json["final_rate"],
                         json["weight_decay"],  json["beta1"],        json["beta2"],    json["clip_norm"]};
  check_optimizer("train", config);
  require(config.warmup_steps >= 0 && config.warmup_steps <= steps,
          fmt::format("'warmup_steps' must lie between 0 and 'steps', which is {}", steps), json["warmup_steps"]);
  require(config.schedule == "constant" || config.schedule == "cosine", "'schedule' must be constant or cosine",
          json["schedule"]);
  return config;
}

// The figures of an evaluation for which higher is better.
std::vector<std::string> evaluation_figures(const EvaluationConfig& config, const std::vector<TrainSource>& sources) {
  std::vector<std::string> names{"pass_at_1", "greedy", "mean_reward", "score_auc", "score_ap"};
  for (const char* name : {"pass_at_", "best_of_", "majority_"})
    if (config.samples > 1) names.push_back(fmt::format("{}{}", name, config.samples));
  if (std::all_of(sources.begin(), sources.end(),
                  [](const TrainSource& source) { return source.suite.options().two_turn; }))
    for (const char* name : {"acc_t1", "acc_t2", "delta", "m01"}) names.emplace_back(name);
  return names;
}

EvaluationConfig read_evaluation(const Json& json, const std::vector<TrainSource>& sources) {
  const std::string split = json["split"];
  require(split == "validation" || split == "test", "'evaluation.split' must be validation or test", split);
  EvaluationConfig config{json["every"], split == "test" ? env::Split::test : env::Split::validation, json["tasks"],
                          json["samples"], json["metric"]};
  require(config.every >= 0, "'evaluation.every' must be at least 0", json["every"]);
  require(config.tasks >= 1, "'evaluation.tasks' must be at least 1", json["tasks"]);
  require(config.samples >= 1, "'evaluation.samples' must be at least 1", json["samples"]);
  for (const TrainSource& source : sources) {
    const std::uint64_t most = source.suite.info().test_tasks;
    if (config.every > 0 && config.tasks > most)
      throw Error("train: 'evaluation.tasks' is {}, and the {} split of {} has {} tasks. Lower it.", config.tasks,
                  split, source.label(), most);
  }
  const std::vector<std::string> figures = evaluation_figures(config, sources);
  if (std::find(figures.begin(), figures.end(), config.metric) == figures.end())
    throw Error("{}", unknown_name_message("train: 'evaluation.metric'", config.metric, figures));
  return config;
}

std::optional<double> read_clip(const Json& json, const char* name) {
  if (json[name].is_null()) return {};
  const bool fits = json[name].is_number() && json[name] >= 0;
  if (!fits) throw Error("train: 'loss.{}' must be a number from 0, got {}.", name, json[name].dump());
  return json[name].get<double>();
}

void read_loss(const Json& json, TrainConfig& config) {
  config.clip_low = read_clip(json, "clip_low");
  config.clip_high = read_clip(json, "clip_high");
  require(config.clip_low.value_or(0) <= 1, "'loss.clip_low' must lie in [0, 1]", json["clip_low"]);
  config.kl_estimator = json["kl_estimator"];
  config.epochs = json["epochs"];
  config.minibatches = json["minibatches"];
  config.rows_per_pass = json["rows_per_pass"];
  if (config.kl_estimator == "k1")
    throw Error(
        "train: 'loss.kl_estimator' is k1, whose gradient as a loss is 0 on average: it does not hold the policy to "
        "the reference. Choose k3, or k2.");
  require(config.kl_estimator == "k2" || config.kl_estimator == "k3", "'loss.kl_estimator' must be k2 or k3",
          json["kl_estimator"]);
  if (!json["kl_clamp"].is_null()) {
    require(json["kl_clamp"].is_number() && json["kl_clamp"] > 0, "'loss.kl_clamp' must be a number above 0",
            json["kl_clamp"]);
    config.kl_clamp = json["kl_clamp"].get<double>();
  }
  require(config.epochs >= 1, "'epochs' must be at least 1", json["epochs"]);
  require(config.minibatches >= 1, "'minibatches' must be at least 1", json["minibatches"]);
  require(config.rows_per_pass >= 1, "'rows_per_pass' must be at least 1", json["rows_per_pass"]);
}

void read_credit(Json& json, TrainConfig& config) {
  config.method = json["method"];
  const bool knows_longest = config.method == "dapo" || config.method == "dr_grpo";
  if (knows_longest && !json["credit"].contains("max_tokens"))
    json["credit"]["max_tokens"] = json["sampling"]["max_tokens"];  // the limit of sampling is the longest response
  config.credit = json["credit"] = credit_settings(config.method, json["credit"]);  // refuses values out of range
  json["stages"] = merged_list(kStageDefaults, json["stages"], "train: 'stages'");
  for (const Json& entry : json["stages"]) {
    Json settings = config.stages.empty() ? config.credit : config.stages.back().settings;
    settings.update(entry["credit"]);
    settings = credit_settings(config.method, settings);
    const std::int64_t from = entry["from_step"];
    if (!config.stages.empty() && from <= config.stages.back().from_step)
      throw Error("train: 'stages' must begin later one after another; one from step {} comes after one from step {}.",
                  from, config.stages.back().from_step);
    config.stages.push_back({from, std::move(settings)});
  }
  for (const auto& [name, weight] : json["rewards"].items()) {
    if (!weight.is_number()) throw Error("train: 'rewards': '{}' is {}, expected a number.", name, weight.dump());
    config.rewards[name] = weight;
  }
  config.reward_model = json["reward_model"].get<std::string>();
  require(config.rewards.contains(kModelReward) == !config.reward_model.empty(),
          "'reward_model' and a weight for it go together, as reward_model: DIR, rewards: {reward_model: 1}",
          json["rewards"]);
  require(!config.rewards.empty() || make_credit(config.method, config.credit)->imitates(),
          "'rewards' must name a component, as rewards: {accuracy: 1}", json["rewards"]);
}

// There is one demonstration per task: only a method that imitates learns from it.
void check_experts(const TrainConfig& config) {
  for (const TrainSource& source : config.sources)
    if (source.expert && !make_credit(config.method, config.credit)->imitates())
      throw Error("train: a source with 'expert' is for methods that imitate (sft, star), not for '{}'.",
                  config.method);
}

// A reward model reads one prompt and whole responses to it.
void check_reward_model(const TrainConfig& config) {
  if (config.reward_model.empty()) return;
  for (const TrainSource& source : config.sources)
    if (source.game || source.expert_turn || source.suite.info().max_turns != 1)
      throw Error(
          "train: 'reward_model' compares whole responses to a task, and source {} has several turns, 'expert_turn' or "
          "'against'. Choose suites of one turn.",
          source.label());
}

// Refuses settings from which the method could learn nothing, before anything is played.
void check_groups(const TrainConfig& config) {
  const auto credit = make_credit(config.method, config.credit);
  for (const TrainSource& source : config.sources)
    if (credit->needs_two_turns() && !source.suite.options().two_turn)
      throw Error(
          "train: method {} learns from two answers to a task, and source {} answers once. Set its 'two_turn' to true.",
          config.method, source.label());
  std::int64_t groups = 0;
  for (const TrainSource& source : config.sources) groups += source.prompts;
  if (config.minibatches > groups)
    throw Error("train: 'loss.minibatches' is {}, and the sources' 'prompts' give {} groups a step. Give at most {}.",
                config.minibatches, groups, groups);
  if (credit->imitates()) return;
  if (config.samples < 2)
    throw Error("train: 'samples' is {}, and {} compares the roll-outs of a task with each other. Give at least 2.",
                config.samples, config.method);
  const bool pays = std::ranges::any_of(config.rewards, [](const auto& reward) { return reward.second != 0; });
  require(pays || !credit->uses_reward(), "every weight of 'rewards' is 0, so no roll-out is better than another",
          Json(config.rewards));
}

// Games draw their tasks themselves: there are no roll-outs to choose tasks by.
void check_games(const TrainConfig& config) {
  for (const TrainSource& source : config.sources)
    require(!source.game || !config.filter_offline, "a source with 'against' does not go with filter.offline",
            source.suite.name());
}

// An adapter folder is not a model: training an adapter and training a whole model differ.
void check_tuning(const TrainConfig& config) {
  if (std::filesystem::exists(config.policy / "adapter_config.json") &&
      !std::filesystem::exists(config.policy / "config.json"))
    throw Error(
        "train: 'policy' is {}, an adapter and not a model. Give the model folder that it belongs to or one it is "
        "merged into, and a 'lora.rank' above 0 to train an adapter.",
        config.policy.string());
}

void read_device(const Json& json, TrainConfig& config) {
  const std::string precision = json["precision"];
  config.device = json["device"];
  require(config.device == "cpu" || config.device == "cuda", "'device' must be cpu or cuda", json["device"]);
  require(precision == "auto" || precision == "float32" || precision == "bfloat16",
          "'precision' must be auto, float32 or bfloat16", precision);
  config.bfloat16 = precision == "bfloat16" || (precision == "auto" && config.device == "cuda");
  const std::string engine = json["engine"];
  require(engine == "cpu" || engine == "device", "'engine' must be cpu or device", engine);
  config.engine_shares = engine == "device";
}

void check_values(const TrainConfig& config) {
  require(config.steps >= 1, "'steps' must be at least 1", config.steps);
  require(config.samples >= 1 && config.samples <= 4096, "'samples' must lie between 1 and 4096", config.samples);
  if (!config.reference.empty() && !std::filesystem::exists(std::filesystem::path(config.reference) / "config.json"))
    throw Error("train: 'reference' is {}: there is no such model folder.", config.reference);
  require(config.threads >= 0 && config.threads <= 1024, "'threads' must lie between 0 and 1024", config.threads);
  require(config.lora.rank >= 0, "'lora.rank' must be at least 0", config.lora.rank);
  require(config.lora.rank > 0 || config.lora.targets == parse_yaml_value(kDefaults)["lora"]["targets"],
          "'lora.targets' need a 'lora.rank' above 0", config.lora.rank);
  require(config.checkpoint_steps >= 1, "'checkpoint_steps' must be at least 1", config.checkpoint_steps);
  require(config.record_every >= 0, "'record_every' must be at least 0", config.record_every);
  require(config.resample >= 0, "'filter.resample' must be at least 0", config.resample);
  require(config.offline_tasks >= 1, "'filter.offline_tasks' must be at least 1", config.offline_tasks);
}

}  // namespace

std::vector<std::string> warnings_of(const TrainConfig& config) {
  std::vector<std::string> warnings = config.warnings;
  if (config.bfloat16 && config.device == "cpu")
    warnings.emplace_back(
        "train: 'precision' is bfloat16 on the CPU: 3 to 5 times slower than float32, and no smaller, since weights "
        "and optimizer stay float32. Set precision: float32.");
  if (config.evaluation.every > 0 && config.evaluation.split == env::Split::test)
    warnings.emplace_back(
        "train: 'evaluation.split' is test: no model is chosen by it, so there will be no best/. Set it to validation "
        "for one.");
  return warnings;
}

TrainConfig load_train_config(const std::filesystem::path& file, std::span<const std::string> changes) {
  TrainConfig config;
  Json given = keys_of_file(file, config.warnings);
  for (const std::string& assignment : changes) change(given, assignment);
  Json json = merged(parse_yaml_value(kDefaults), given, "train: " + (file.empty() ? "--set" : file.string()));
  json["sources"] = merged_list(kSourceDefaults, json["sources"], "train: 'sources'");
  const Json asked = json;
  config.output = json["output"].get<std::string>();
  config.policy = json["policy"].get<std::string>();
  require(json["seed"].is_number_unsigned() || json["seed"].get<std::int64_t>() >= 0, "'seed' must be at least 0",
          json["seed"]);
  config.seed = json["seed"];
  config.steps = json["steps"];
  config.threads = json["threads"];
  read_device(json, config);
  config.samples = json["samples"];
  config.lora = {json["lora"]["rank"], json["lora"]["alpha"], json["lora"]["targets"]};
  config.reference = json["reference"];
  config.probe_suffix = json["probes"]["suffix"];
  config.probe_picture = parse_picture_change(json["probes"]["picture"]);
  config.probe_mean = json["probes"]["per_token_mean"];
  config.step_rule = env::parse_step_rule(json["probes"]["steps"]);
  config.filter_offline = json["filter"]["offline"];
  config.offline_tasks = json["filter"]["offline_tasks"];
  config.resample = json["filter"]["resample"];
  config.checkpoint_steps = json["checkpoint_steps"];
  config.record_every = json["record_every"];
  check_values(config);
  check_tuning(config);
  config.sources = read_sources(json["sources"], json["similarity"]);
  config.sampling = read_sampling(json["sampling"]);
  config.optimizer = read_optimizer(json["optimizer"], config.steps);
  config.evaluation = read_evaluation(json["evaluation"], config.sources);
  read_loss(json["loss"], config);
  read_credit(json, config);
  check_experts(config);
  check_games(config);
  check_reward_model(config);
  require_used_keys(config, asked, parse_yaml_value(kDefaults));
  check_groups(config);
  config.resolved = std::move(json);
  return config;
}

}  // namespace agon::agents
