#include "cli/flags/critic_flags.h"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <vector>

#include "agents/engine/local_policy.h"
#include "agents/model_fingerprint.h"
#include "cli/flags/cache_flag.h"
#include "cli/flags/flag_use.h"
#include "cli/flags/old_names.h"
#include "cli/flags/usage.h"
#include "cli/model_folder.h"
#include "cli/provenance.h"
#include "core/error.h"
#include "core/text.h"
#include "critic/critic_prompt.h"
#include "critic/discriminative_critic.h"
#include "critic/generative_critic.h"
#include "critic/plain_critics.h"
#include "critic/process_reward_critic.h"
#include "critic/reward_model/engine_reward_model.h"
#include "critic/reward_model/reward_model_critic.h"
#include "critic/self_score_critic.h"
#include "net/http_client.h"
#include "net/url.h"

namespace agon::cli {
namespace {

constexpr std::string_view kConstant = "constant=", kRewardModel = "reward-model:";
constexpr std::string_view kOldRewardModel = "rm:";  // the name before version 0.2, which records keep

std::string renewed(const std::string& critic) {
  if (!critic.starts_with(kOldRewardModel)) return critic;
  return std::string(kRewardModel) + critic.substr(kOldRewardModel.size());
}

std::string recorded(const std::string& critic) {
  if (!critic.starts_with(kRewardModel)) return critic;
  return std::string(kOldRewardModel) + critic.substr(kRewardModel.size());
}

// Also accepts the old form of a critic, with a warning.
CLI::Validator critic_name(const std::string& command) {
  const auto renew = [command](std::string& critic) {
    if (critic.starts_with(kOldRewardModel)) warn_of_old_name(command, "--critic rm:DIR", "--critic reward-model:DIR");
    critic = renewed(critic);
    return std::string();
  };
  return CLI::Validator(renew, "");
}

// The policy of the flags; by default the default critic, for self-score the solver.
agents::PolicySource critic_source(const CriticFlags& flags, const agents::PolicySource* solver) {
  const bool own_score = flags.critic == "self-score";
  if (own_score && flags.policy.empty() && solver) return *solver;
  agents::PolicySource source = find_policy(flags.policy, own_score ? kDefaultModel : kDefaultCritic);
  use_cache(source, flags.cache);
  return source;
}

std::filesystem::path reward_model_folder(const CriticFlags& flags) {
  const std::filesystem::path folder = flags.critic.substr(kRewardModel.size());
  if (!std::filesystem::is_directory(folder))
    throw Error("critic: there is no folder '{}'. Give reward-model:DIR a folder that `agon train-rm` wrote.",
                folder.string());
  return folder;
}

bool writes(const std::string& critic) {
  return critic == "generative" || critic == "discriminative" || critic == "self-score";
}

double parse_probability(std::string_view text) {
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size())
    throw WrongUsage("critic: constant needs a probability, as in constant=0.5; got '{}'.", text);
  return value;
}

std::string instructions_of(const CriticFlags& flags) {
  return flags.instructions ? *flags.instructions : of_flags([&] { return critic::critic_instructions(flags.prompt); });
}

std::unique_ptr<critic::StepCritic> make_writing_critic(const CriticFlags& flags, agents::Policy& policy) {
  if (flags.critic == "self-score") return critic::make_self_score_critic(policy, {flags.max_tokens});
  const std::string instructions = instructions_of(flags);
  if (flags.critic == "discriminative") return critic::make_discriminative_critic(policy, instructions);
  critic::GenerativeCriticOptions options;
  options.instructions = instructions;
  options.critiques = flags.critiques;
  options.combine = of_flags([&] { return critic::parse_combine(flags.combine); });
  options.temperature = flags.temperature;
  options.max_tokens = flags.max_tokens;
  options.seed = flags.seed;
  return critic::make_generative_critic(policy, options);
}

// The policy of a critic that was recorded.
std::string recorded_policy(const Json& config, const CriticFlags& flags, const agents::PolicySource* solver) {
  const auto files = config.at("policy_files").get<std::string>();
  std::vector<agents::PolicySource> sources{critic_source(flags, solver)};
  if (solver) sources.push_back(*solver);
  for (const agents::PolicySource& source : sources)
    if (source.fingerprint() == files) return source.endpoint ? source.endpoint->address() : source.folder.string();
  throw Error(
      "critic: the run's critic was {}, with files with the hash {}; no available model has that hash. Give its "
      "folder with --critic-policy, or another critic with --critic.",
      config.at("policy").get<std::string>(), files);
}

// A command may leave some of the options out.
bool is_given(const CLI::App& command, const std::string& flag) {
  const CLI::Option* const option = command.get_option_no_throw(flag);
  return option != nullptr && option->count() > 0;
}

}  // namespace

void add_critic_options(CLI::App& command, CriticFlags& flags, const std::string& prefix) {
  const auto name = [&](const char* option) { return "--" + prefix + option; };
  command
      .add_option("--critic", flags.critic,
                  "Critic: generative (writes a critique), discriminative (compares the two verdicts), self-score (the "
                  "solver's own <score>), process-reward (a server), reward-model:DIR, oracle (the suite), constant=P, "
                  "random")
      ->type_name("<name>")
      ->transform(critic_name(command.get_name()))
      ->capture_default_str()
      ->group(kCriticFlags);
  command
      .add_option(
          name("policy"), flags.policy,
          command.get_name() == "search"
              ? "Model folder or server of the critic (default: models/agon-tiny-critic; for "
                "self-score the model of --policy)"
          : command.get_name() == "replay"
              ? "Model folder or server of the critic (default: the run's own; if another critic flag is given, "
                "models/agon-tiny-critic, or for self-score the model of --policy)"
              : "Model folder or server of the critic (default: models/agon-tiny-critic; for "
                "self-score models/agon-tiny)")
      ->type_name("<path>")
      ->group(kCriticFlags);
  command.add_option(name("prompt"), flags.prompt, "Prompt of the critic: short, long, or a text file of your own")
      ->type_name("<text>")
      ->capture_default_str()
      ->group(kCriticFlags);
  command.add_option("--critiques", flags.critiques, "Critiques per step; several need a temperature above 0")
      ->capture_default_str()
      ->check(whole_number_in(1, 256))
      ->group(kCriticFlags);
  command
      .add_option(name("combine"), flags.combine,
                  "Combination of several critiques: mean (of their P(correct)) or vote")
      ->type_name("<name>")
      ->capture_default_str()
      ->group(kCriticFlags);
  command.add_option(name("temperature"), flags.temperature, "Temperature of critiques")
      ->capture_default_str()
      ->check(number_in(0, 100))
      ->group(kCriticFlags);
  command.add_option(name("max-tokens"), flags.max_tokens, "Maximum number of tokens per critique")
      ->capture_default_str()
      ->check(whole_number_in(1, 1'000'000))
      ->group(kCriticFlags);
  command.add_option(name("url"), flags.url, "Address of the process-reward server, as in http://127.0.0.1:8000")
      ->type_name("<url>")
      ->group(kCriticFlags);
  command.add_option(name("model"), flags.model, "Name of the model on the process-reward server")
      ->type_name("<name>")
      ->check(some_text())
      ->group(kCriticFlags);
  command
      .add_option(name("key-env"), flags.key_env,
                  "Environment variable that holds the key of the process-reward server")
      ->type_name("<name>")
      ->check(some_text())
      ->group(kCriticFlags);
  command
      .add_option(name("form"), flags.form,
                  "Form of the process reward model: qwen (Qwen2.5-Math-PRM) or shepherd (Math-Shepherd)")
      ->type_name("<name>")
      ->capture_default_str()
      ->group(kCriticFlags);
}

void require_used(const CLI::App& command, const CriticFlags& flags, const std::string& prefix) {
  using Critics = std::vector<std::string_view>;
  const std::vector<std::pair<std::string, Critics>> used{
      {"--" + prefix + "policy", {"generative", "discriminative", "self-score"}},
      {"--" + prefix + "prompt", {"generative", "discriminative"}},
      {"--critiques", {"generative"}},
      {"--" + prefix + "combine", {"generative"}},
      {"--" + prefix + "temperature", {"generative"}},
      {"--" + prefix + "max-tokens", {"generative", "self-score"}},
      {"--" + prefix + "url", {"process-reward"}},
      {"--" + prefix + "model", {"process-reward"}},
      {"--" + prefix + "key-env", {"process-reward"}},
      {"--" + prefix + "form", {"process-reward"}}};
  for (const auto& [flag, critics] : used)
    if (is_given(command, flag) && std::ranges::find(critics, flags.critic) == critics.end())
      throw WrongUsage(
          "critic: {0} does nothing with --critic {2}: it is for {1}. Leave it out, or choose another --critic.", flag,
          fmt::join(critics, ", "), flags.critic);
  require_used(command, {{"--" + prefix + "combine", flags.critiques > 1, "with one critique",
                          "ask for --critiques 2 or more"}});
}

std::vector<agents::PolicySource> critic_policies(const CriticFlags& flags, const agents::PolicySource* solver) {
  if (!writes(flags.critic)) return {};
  return {critic_source(flags, solver)};
}

Json critic_config(const CriticFlags& flags, const agents::PolicySource* solver) {
  Json config{{"critic", recorded(flags.critic)}};
  if (flags.critic == "process-reward") {
    config["url"] = net::public_url(flags.url);
    config["model"] = flags.model;
    config["form"] = flags.form;
  }
  if (flags.critic.starts_with(kRewardModel))
    config["policy_files"] = agents::model_fingerprint(reward_model_folder(flags));
  if (!writes(flags.critic)) return config;
  const agents::PolicySource source = critic_source(flags, solver);
  config["policy"] = source.name();
  config["policy_files"] = source.fingerprint();
  config["max_tokens"] = flags.max_tokens;
  if (flags.critic == "self-score") return config;
  config["prompt"] = instructions_of(flags);
  if (flags.critic == "discriminative") return config;
  config["critiques"] = flags.critiques;
  config["combine"] = flags.combine;
  config["temperature"] = flags.temperature;
  return config;
}

Json critic_record(const CriticFlags& flags, const agents::PolicySource* solver) {
  Json record{{"critic", recorded(flags.critic)}};
  if (flags.critic == "process-reward") record["url"] = net::public_url(flags.url);
  if (flags.critic.starts_with(kRewardModel)) record.update(model_record(reward_model_folder(flags)));
  if (writes(flags.critic)) record.update(policy_record(critic_source(flags, solver)));
  return record;
}

std::string critic_in(const Json& config) { return renewed(config.at("critic").get<std::string>()); }

CriticFlags critic_flags_in(const Json& config, const CriticFlags& given, const agents::PolicySource* solver) {
  CriticFlags flags = given;
  flags.critic = critic_in(config);
  if (flags.url.empty()) flags.url = config.value("url", "");
  flags.model = config.value("model", "");
  flags.form = config.value("form", flags.form);
  flags.max_tokens = config.value("max_tokens", flags.max_tokens);
  flags.critiques = config.value("critiques", flags.critiques);
  flags.combine = config.value("combine", flags.combine);
  flags.temperature = config.value("temperature", flags.temperature);
  if (config.contains("prompt")) flags.instructions = config.at("prompt").get<std::string>();
  if (flags.policy.empty() && writes(flags.critic)) flags.policy = recorded_policy(config, flags, solver);
  return flags;
}

OpenCritic open_critic(const CriticFlags& flags, agents::Policy* solver, const agents::PolicySource* source) {
  OpenCritic open;
  if (flags.critic == "oracle") {
    open.critic = critic::make_oracle_critic();
  } else if (flags.critic.starts_with(kConstant)) {
    const double probability = parse_probability(std::string_view(flags.critic).substr(kConstant.size()));
    open.critic = of_flags([&] { return critic::make_constant_critic(probability); });
  } else if (flags.critic == "random") {
    open.critic = critic::make_random_critic(flags.seed);
  } else if (flags.critic == "process-reward") {
    open.critic = critic::make_process_reward_critic(
        {flags.url, flags.model, of_flags([&] { return critic::parse_reward_form(flags.form); }), flags.key_env});
  } else if (flags.critic.starts_with(kRewardModel)) {
    const std::filesystem::path folder = reward_model_folder(flags);
    open.reward_model = critic::open_reward_model(folder);
    open.critic = critic::make_reward_model_critic(*open.reward_model, folder.lexically_normal().string());
    open.label = "reward model ";
  } else if (writes(flags.critic)) {
    agents::PolicySource own = critic_source(flags, source);
    const bool is_solver = solver && source && own == *source;
    if (!is_solver) open.policy = agents::open_policy(own);
    open.critic = make_writing_critic(flags, is_solver ? *solver : *open.policy);
    open.label = flags.critic + " ";
  } else {
    throw WrongUsage("{}", unknown_name_message("critic", flags.critic,
                                                {"generative", "discriminative", "self-score", "process-reward",
                                                 "reward-model:DIR", "oracle", "constant=P", "random"}));
  }
  open.label += open.critic->name();
  return open;
}

}  // namespace agon::cli
