#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "agents/hub/peft_config.h"
#include "agents/remote/endpoint.h"
#include "cli/commands/commands.h"
#include "cli/flags/critic_flags.h"
#include "cli/flags/device_flag.h"
#include "cli/flags/flag_use.h"
#include "cli/flags/memory_flags.h"
#include "cli/flags/server_flags.h"
#include "cli/flags/usage.h"
#include "cli/interrupt.h"
#include "cli/model_folder.h"
#include "core/error.h"
#include "core/text.h"
#include "critic/reward_model/engine_reward_model.h"
#include "serve/model_server.h"
#include "tools/search/open_search.h"

namespace agon::cli {
namespace {

constexpr const char* kKeyVariable = "AGON_API_KEY";

struct ModelServeFlags {
  std::string policy, device, reward_model, search_index;
  MemoryFlags memory;
  std::vector<std::string> adapters;
  CriticFlags critic;
  int threads = 0;
  double grace = 30;
  serve::ModelServerOptions server;
};

std::string key_of_environment() {
  const char* const key = std::getenv(kKeyVariable);
  const std::string text(trim(key == nullptr ? "" : key));
  if (text.find_first_of("\r\n") != std::string::npos)
    throw Error("serve: the key in the environment variable {} has several lines.", kKeyVariable);
  return text;
}

// Whether one of the critic's flags is given.
bool wants_critic(const CLI::App& command) {
  const auto options = command.get_options(
      [](const CLI::Option* option) { return option->get_group() == kCriticFlags && option->count() > 0; });
  return !options.empty();
}

std::string folder_name(const std::filesystem::path& folder) {
  return std::filesystem::weakly_canonical(folder).filename().string();
}

// The critic lives as long as what it was opened from.
void add_critic(const CriticFlags& flags, const CLI::App& command, serve::ServedModels& models) {
  require_used(command, flags, "critic-");
  if (flags.critic == "oracle") throw WrongUsage("serve: --critic oracle asks the suite, which clients do not send.");
  if (flags.critic == "process-reward")
    throw WrongUsage("serve: --critic process-reward is a server already. Let the clients ask that.");
  if (flags.critic.starts_with("reward-model:"))
    throw WrongUsage("serve: give the folder of --critic {} to --reward-model.", flags.critic);
  const auto open = std::make_shared<OpenCritic>(open_critic(flags));
  models.critic = {open, open->critic.get()};
  models.critic_name = open->critic->name();
}

std::shared_ptr<serve::ServedPolicy> policy_to_serve(const ModelServeFlags& flags, const CLI::App& command) {
  agents::PolicySource source = find_policy(flags.policy);
  use_memory(source, flags.memory);
  use_device(source, flags.device);
  if (flags.reward_model.empty()) require_threads_used(command, source);
  if (agents::is_adapter_folder(source.folder))
    throw Error("serve: --policy {} is an adapter. Give its base to --policy, and --adapter {}={}.",
                source.folder.string(), folder_name(source.folder), source.folder.string());
  auto policy = std::make_shared<serve::ServedPolicy>(source.folder, agents::EngineOptions{.threads = flags.threads},
                                                      source.backend_options(), source.choices.resampler);
  fmt::print(stderr, "memory: {}\n", agents::memory_text(policy->engine().memory()));
  for (const std::string& adapter : flags.adapters) {
    const std::size_t equals = adapter.find('=');
    if (equals == 0 || equals == adapter.npos || equals + 1 == adapter.size())
      throw WrongUsage("serve: --adapter {} is not NAME=FOLDER.", adapter);
    policy->add_adapter(adapter.substr(0, equals), adapter.substr(equals + 1));
  }
  return policy;
}

serve::ServedModels models_to_serve(const ModelServeFlags& flags, const CLI::App& command) {
  if (agents::names_endpoint(flags.policy))
    throw WrongUsage("serve: --policy {} is a server, not a model folder. Give the folder of the model to be served.",
                     flags.policy);
  serve::ServedModels models;
  const bool has_critic = wants_critic(command);
  const bool nothing_named = flags.reward_model.empty() && flags.search_index.empty() && !has_critic;
  const bool has_policy = !flags.policy.empty() || nothing_named;
  for (const char* flag : kMemoryFlags) require_used(command, {{flag, has_policy, "without a policy", "leave it out"}});
  require_used(command, {{"--device", has_policy, "without a policy", "leave it out"},
                         {"--adapter", has_policy, "without a policy", "give its base to --policy"},
                         {"--deadline", has_policy, "without a policy", "leave it out"}});
  require_used(
      command,
      {{.flag = "--threads", .used = has_policy || !flags.reward_model.empty(), .why = "with a search index alone"}});
  if (has_policy) models.policy = policy_to_serve(flags, command);
  if (!flags.reward_model.empty()) {
    const std::filesystem::path folder = find_reward_model(flags.reward_model);
    models.reward_model = critic::open_reward_model(folder, flags.threads);
    models.reward_model_name = folder_name(folder);
  }
  if (has_critic) add_critic(flags.critic, command, models);
  if (models.policy && models.reward_model && models.policy->name() == models.reward_model_name)
    throw WrongUsage("serve: policy and reward model have the same name, '{}'. Rename one of the folders.",
                     models.reward_model_name);
  for (const std::string& name : {models.reward_model_name, models.critic_name})
    if (models.policy && models.policy->adapters().contains(name))
      throw WrongUsage("serve: two models have the name '{}'. Give the adapter another one.", name);
  if (models.critic && models.reward_model && models.critic_name == models.reward_model_name)
    throw WrongUsage("serve: critic and reward model have the same name, '{}'. Rename one of the folders.",
                     models.critic_name);
  if (!flags.search_index.empty()) models.search = tools::open_search({.where = flags.search_index, .bm25 = {}});
  return models;
}

std::string served_names(const serve::ServedModels& models, const ModelServeFlags& flags) {
  std::string names;
  const auto add = [&](const std::string& name) { names += (names.empty() ? "" : ", ") + name; };
  if (models.policy) {
    add(models.policy->name());
    for (const auto& [name, adapter] : models.policy->adapters()) add(name);
  }
  if (models.reward_model) add(models.reward_model_name);
  if (models.critic) add(fmt::format("{} as critic", models.critic_name));
  if (models.search) add(flags.search_index);
  return names;
}

void serve_models(ModelServeFlags& flags, const CLI::App& command) {
  watch_interrupts();
  std::signal(SIGPIPE, SIG_IGN);  // the reader of its first line may have closed the pipe
  flags.server.key = key_of_environment();
  flags.server.limits.stop_seconds = flags.grace;
  const serve::ServedModels models = models_to_serve(flags, command);
  serve::ModelServer server(models, flags.server);
  fmt::print("serving {} at http://{}:{}/v1; Ctrl-C ends it\n", served_names(models, flags),
             host_in_address(flags.server.host), server.port());
  std::fflush(stdout);
  server.run(interrupted());
  throw Interrupted(fmt::format("serve: stopped after {} requests.", server.answered()));
}

// Adds the critic flags of agon search, except those of critics that are not served.
void add_served_critic(CLI::App& command, CriticFlags& flags) {
  add_critic_options(command, flags, "critic-");
  for (const char* option : {"--critic-url", "--critic-model", "--critic-key-env", "--critic-form"})
    command.remove_option(command.get_option(option));
  command.get_option("--critic")
      ->default_str("")
      ->description(
          "Critic: generative (writes a critique), discriminative (compares the two verdicts), self-score (a policy's "
          "own <score>), constant=P or random (default: none; generative if another of these options is given)");
}

void set_groups(CLI::App& command) {
  for (const char* option :
       {"--policy", "--adapter", "--weights", "--kv", "--memory", "--device", "--reward-model", "--search-index"})
    command.get_option(option)->group("Models");
  for (const char* option :
       {"--host", "--port", "--in-flight", "--connections", "--queue", "--threads", "--deadline", "--grace"})
    command.get_option(option)->group("Server");
}

}  // namespace

void add_serve(CLI::App& app) {
  auto flags = std::make_shared<ModelServeFlags>();
  CLI::App* command = app.add_subcommand("serve", "Serve models over HTTP with OpenAI's endpoints");
  command
      ->add_option("--policy", flags->policy,
                   "Model folder of the policy (default: models/agon-tiny, unless another model or an index is given)")
      ->type_name("<path>");
  command
      ->add_option("--adapter", flags->adapters,
                   "LoRA adapter of the policy, served as a model of this name; repeatable")
      ->type_name("<name=path>")
      ->allow_extra_args(false);
  add_memory_options(*command, flags->memory);
  add_device_option(*command, flags->device);
  command->add_option("--reward-model", flags->reward_model, "Reward model folder")->type_name("<path>");
  command->add_option("--search-index", flags->search_index, "Search index: a file that agon index wrote")
      ->type_name("<path>");
  add_server_options(*command, "Address to listen on; one that other machines can reach needs AGON_API_KEY",
                     flags->server.host, flags->server.port, flags->server.in_flight, flags->server.limits.connections);
  add_served_critic(*command, flags->critic);
  command->add_option("--queue", flags->server.queue, "Number of requests that wait; further ones get 429")
      ->type_name("<n>")
      ->check(whole_number_in(0, 10'000))
      ->capture_default_str();
  command->add_option("--threads", flags->threads, "Compute threads; 0: one per core")
      ->type_name("<n>")
      ->check(whole_number_in(0, 1024))
      ->capture_default_str();
  command
      ->add_option("--deadline", flags->server.deadline,
                   "Seconds in which the policy answers a request; then it gets 504 (default: 0, none)")
      ->type_name("<number>")
      ->check(number_in(0, 86'400));
  command->add_option("--grace", flags->grace, "Seconds for running requests to end after Ctrl-C")
      ->type_name("<number>")
      ->check(number_in(0, 3600))
      ->capture_default_str();
  set_groups(*command);
  command->callback([flags, command] { serve_models(*flags, *command); });
}

}  // namespace agon::cli
