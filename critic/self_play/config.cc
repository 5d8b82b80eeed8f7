#include "critic/self_play/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agents/config_reader.h"
#include "agents/hub/peft_config.h"
#include "agents/learn/loop/config_paths.h"
#include "agents/learn/loop/optimizer_config.h"
#include "agents/learn/loop/unused_keys.h"
#include "agents/remote/endpoint.h"
#include "core/error.h"
#include "core/paths.h"
#include "env/wrappers/role.h"
#include "env/wrappers/sneaky_role.h"

namespace agon::critic {
namespace {

namespace fs = std::filesystem;

// All models that the first round starts with.
std::vector<fs::path> models_of(const SelfPlayConfig& config) {
  std::vector<fs::path> models = {config.critic, config.sneaky};
  models.insert(models.end(), config.solvers.begin(), config.solvers.end());
  for (const GameSource& source : config.sources)
    models.insert(models.end(), source.solvers.begin(), source.solvers.end());
  return models;
}

std::vector<fs::path> read_paths(agents::ConfigSection& section, const char* key, const fs::path& file) {
  std::vector<std::string> names;
  section.read(key, names);
  std::vector<fs::path> paths;
  for (const std::string& name : names) paths.push_back(agents::from_working_folder(file, name));
  require_each_path_once(fmt::format("{}: '{}':", section.name(), key), paths);
  return paths;
}

void require_model(const fs::path& folder) {
  if (agents::names_endpoint(folder.string()) || agents::is_adapter_folder(folder)) return;
  if (!fs::is_regular_file(folder / "config.json"))
    throw Error(
        "selfplay: {} is not a model folder: it has no config.json. Train one (docs/critic.md), or name another.",
        folder.string());
}

void read_sources(const Json& list, const fs::path& file, SelfPlayConfig& config) {
  for (const Json& json : list) {
    GameSource source;
    agents::ConfigSection section(json, "selfplay: sources");
    std::string suite = source.suite.name();
    env::SuiteOptions options{.role = std::string(env::kSneaky)};
    section.read("suite", suite);
    section.read("level", options.level);
    section.read("games", source.games);
    section.read("held_out", options.held_out);
    source.solvers = read_paths(section, "solvers", file);
    section.check();
    if (source.games < 1) throw Error("selfplay: sources: 'games' must be at least 1.");
    source.suite = env::Suite(suite, options).with_role(env::kSolver);  // throws if the suite has no sneaky role
    config.sources.push_back(source);
  }
}

void read_learning(const Json& json, agents::OfflineConfig& learning) {
  agents::ConfigSection section(json, "selfplay: learning");
  section.read("epochs", learning.epochs);
  section.read("batch", learning.batch);
  section.read("learning_rate", learning.learning_rate);
  section.read("baseline", learning.baseline);
  section.read("kl", learning.loss.kl);
  section.read("clip", learning.loss.clip);
  section.read("imitation_weight", learning.loss.imitation_weight);
  section.read("checkpoint_steps", learning.checkpoint_steps);
  section.read_threads(learning.threads);
  section.check();
  if (learning.epochs < 1 || learning.batch < 1 || learning.checkpoint_steps < 1)
    throw Error("selfplay: learning: 'epochs', 'batch' and 'checkpoint_steps' must be at least 1.");
  const agents::OfflineLossOptions& loss = learning.loss;
  agents::check_optimizer(section.name(), {.learning_rate = learning.learning_rate});
  if (!(loss.clip >= 0) || !(loss.kl >= 0) || !(loss.imitation_weight >= 0))
    throw Error("selfplay: learning: 'clip', 'kl' and 'imitation_weight' must be at least 0.");
}

void check_counts(const std::string& name, const SelfPlayConfig& config) {
  constexpr int kMost = 256;
  for (const auto& [key, value] :
       {std::pair{"critiques", config.games.critiques}, std::pair{"completions", config.games.solvers.completions}})
    if (value < 1 || value > kMost) throw Error("{}: '{}' must lie between 1 and {}, got {}.", name, key, kMost, value);
  if (config.rounds < 1) throw Error("{}: 'rounds' must be at least 1, got {}.", name, config.rounds);
  if (config.lessons.pairs && config.games.critiques < 2)
    throw Error(
        "{}: 'pairs' needs at least 2 'critiques' per step, to pair a right one with a wrong one; got {}. Raise it, "
        "or set 'pairs' to false.",
        name, config.games.critiques);
  if (config.games.max_tokens < 1 || !(config.games.temperature > 0))
    throw Error(
        "{}: 'max_tokens' must be at least 1 and 'temperature' above 0 (at 0 all critiques of a step are the "
        "same), got {} and {}.",
        name, config.games.max_tokens, config.games.temperature);
}

// Checks keys that have an effect only together with other keys.
void check_keys_used(const std::string& name, const SelfPlayConfig& config) {
  const double imitation_weight = agents::OfflineLossOptions().imitation_weight;
  agents::require_used(
      name,
      {{"pairing", config.pairing != Pairing::asymmetric, config.rounds > 1, "with rounds: 1", "play more rounds"},
       {"mix_rounds", !config.mix_rounds, config.rounds > 1, "with rounds: 1", "play more rounds"},
       {"learning.imitation_weight", config.learning.loss.imitation_weight != imitation_weight, config.imitation,
        "with imitation: false", "set imitation to true"},
       {"sources.held_out",
        std::ranges::any_of(config.sources,
                            [](const GameSource& one) { return !one.suite.options().held_out.empty(); }),
        config.imitation, "with imitation: false", "set imitation to true"}});
  if (config.imitation && config.learning.loss.imitation_weight == 0)
    throw Error(
        "{}: 'imitation' does nothing with learning.imitation_weight: 0: examples of no weight teach nothing. Give a "
        "weight above 0, or set imitation to false.",
        name);
}

}  // namespace

SelfPlayConfig load_self_play_config(const fs::path& file, std::span<const std::string> changes) {
  SelfPlayConfig config;
  config.source = agents::read_config(file, changes, kSelfPlayPaths);
  agents::ConfigSection section(config.source, fmt::format("selfplay: {}", file.string()));
  std::string output, critic, sneaky, pairing = "asymmetric", solutions = "expert";
  section.read("output", output);
  section.read("critic", critic);
  section.read("sneaky", sneaky);
  config.solvers = read_paths(section, "solvers", file);
  section.read("pairing", pairing);
  section.read("rounds", config.rounds);
  section.read("mix_rounds", config.mix_rounds);
  section.read("pairs", config.lessons.pairs);
  section.read("harmful_only", config.lessons.harmful_only);
  section.read("solver_reward", config.solver_reward);
  section.read("solutions", solutions);
  section.read("imitation", config.imitation);
  section.read("critiques", config.games.critiques);
  section.read("completions", config.games.solvers.completions);
  section.read("temperature", config.games.temperature);
  section.read("max_tokens", config.games.max_tokens);
  section.read("seed", config.seed);
  if (const Json* list = section.child("sources")) read_sources(*list, file, config);
  if (const Json* learning = section.child("learning")) read_learning(*learning, config.learning);
  section.check();
  for (const auto& [key, value] :
       {std::pair{"output", output}, std::pair{"critic", critic}, std::pair{"sneaky", sneaky}})
    if (value.empty()) throw Error("{}: '{}' is missing.", section.name(), key);
  if (config.solvers.empty()) throw Error("{}: 'solvers' is missing: name at least one model folder.", section.name());
  if (config.sources.empty()) throw Error("{}: 'sources' is missing.", section.name());
  if (pairing != "asymmetric" && pairing != "synchronous")
    throw Error("{}: 'pairing' must be asymmetric or synchronous, got '{}'.", section.name(), pairing);
  if (solutions != "expert" && solutions != "solvers")
    throw Error("{}: 'solutions' must be expert or solvers, got '{}'.", section.name(), solutions);
  config.own_solutions = solutions == "solvers";
  check_counts(section.name(), config);
  config.output = agents::from_working_folder(file, output);
  config.critic = agents::from_working_folder(file, critic);
  config.sneaky = agents::from_working_folder(file, sneaky);
  config.pairing = pairing == "asymmetric" ? Pairing::asymmetric : Pairing::synchronous;
  config.games.solvers.max_tokens = config.games.max_tokens;
  check_keys_used(section.name(), config);
  for (const fs::path& model : models_of(config)) require_model(model);
  for (const fs::path& learner : {config.critic, config.sneaky}) {
    if (agents::names_endpoint(learner.string()))
      throw Error("selfplay: {} learns, so it must be a model folder, not a server. A server can be a solver.",
                  learner.string());
    if (agents::is_adapter_folder(learner))
      throw Error("selfplay: {} learns, so it must be a model folder, not an adapter. An adapter can be a solver.",
                  learner.string());
  }
  return config;
}

}  // namespace agon::critic
