// agon search - answers a suite's tasks by test-time search: a policy writes steps, a critic judges them, a method
// decides what is kept, under a budget.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "agents/engine/local_policy.h"
#include "cli/commands/commands.h"
#include "cli/flags/cache_flag.h"
#include "cli/flags/critic_flags.h"
#include "cli/flags/device_flag.h"
#include "cli/flags/flag_use.h"
#include "cli/flags/memory_flags.h"
#include "cli/flags/old_names.h"
#include "cli/flags/play_flags.h"
#include "cli/flags/usage.h"
#include "cli/interrupt.h"
#include "cli/model_folder.h"
#include "cli/output.h"
#include "cli/paid.h"
#include "cli/play.h"
#include "cli/policy_needs.h"
#include "cli/printed_json.h"
#include "cli/provenance.h"
#include "cli/search_config.h"
#include "cli/task_hashes.h"
#include "core/error.h"
#include "core/progress.h"
#include "core/provenance.h"
#include "critic/search/summary.h"
#include "env/wrappers/labelled_steps.h"
#include "env/wrappers/role.h"
#include "record/run_reader.h"

namespace agon::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSearchFlags = "Search";

struct SearchCommandFlags {
  PlayFlags play;
  CriticFlags critic;
  MemoryFlags memory;
  std::string suite = "charts", policy, device, out, method = "guided", budget, rank, keep = "likeliest",
              retry = "anew";
  int n = 5, width = 4, attempts = 5;
  std::string critic_flag;  // a flag of the critic that was given
  bool resume = false, json = false, no_speculation = false;
};

critic::MethodOptions method_options(const SearchCommandFlags& flags) {
  critic::MethodOptions options;
  options.method = of_flags([&] { return critic::parse_method(flags.method); });
  options.n = flags.n;
  options.width = flags.width;
  options.attempts = flags.attempts;
  options.keep = critic::parse_keep(flags.keep);
  options.retry = flags.retry == "anew" ? critic::Retry::anew : critic::Retry::independent;
  const bool samples =
      options.method == critic::Method::best_of_n || options.method == critic::Method::weighted_majority;
  options.rank = !flags.rank.empty() ? of_flags([&] { return critic::parse_rank(flags.rank); })
                 : samples           ? critic::Rank::score
                                     : critic::Rank::min;
  of_flags([&] { critic::require_rank(options); });
  return options;
}

critic::SearchOptions search_options(const SearchCommandFlags& flags, const agents::RolloutOptions& asked) {
  critic::SearchOptions options;
  options.suite = asked.suite;
  options.split = asked.split;
  options.tasks = asked.tasks;
  options.seed = asked.seed;
  options.method = method_options(flags);
  options.budget = of_flags([&] { return critic::parse_budget(flags.budget); });
  options.sampling = asked.sampling;
  options.speculate = !flags.no_speculation;
  options.threads = asked.threads;
  return options;
}

Json search_json(const SearchCommandFlags& flags, const agents::RolloutOptions& asked,
                 const critic::SearchOptions& options, const agents::PolicySource& policy) {
  Json config = run_config(asked, policy);
  config.erase("samples");
  add_search_config(options, config);
  if (needs_critic(options.method)) {
    config["critic"] = critic_config(flags.critic, &policy);
    config[kProvenance]["critic"] = critic_record(flags.critic, &policy);
  }
  return config;
}

// Rejected steps are not written again, so a low temperature keeps steps likely and still gives different ones
// (docs/results.md).
constexpr double kAnewTemperature = 0.5;
bool writes_anew(const SearchCommandFlags& flags) { return flags.method == "guided" && flags.retry == "anew"; }

FlagUse use_of(const char* flag, critic::Method method, critic::Setting setting) {
  std::vector<std::string> others;
  for (const critic::Method other : methods_with(setting)) others.push_back(to_string(other));
  return {flag, looks_at(method, setting), "with --method " + to_string(method),
          fmt::format("choose --method {}", fmt::join(others, ", "))};
}

void require_method_flags_used(const CLI::App& command, const SearchCommandFlags& flags) {
  using critic::Setting;
  const critic::Method method = of_flags([&] { return critic::parse_method(flags.method); });
  require_used(command,
               {use_of("--samples", method, Setting::n), use_of("--width", method, Setting::width),
                use_of("--attempts", method, Setting::attempts), use_of("--keep", method, Setting::keep),
                use_of("--retry", method, Setting::retry), use_of("--rank", method, Setting::rank),
                use_of("--temperature", method, Setting::sampling), use_of("--top-p", method, Setting::sampling),
                use_of("--no-speculation", method, Setting::speculation)});
  if (method == critic::Method::guided || method == critic::Method::particles)
    require_used(command, {{"--rank", !flags.budget.empty(),
                            "with --method " + flags.method + " and no budget to be spent", "give a --budget"}});
  if (flags.attempts > 1) return;
  for (const char* flag : {"--keep", "--retry", "--temperature", "--top-p"})
    require_used(command,
                 {{flag, method != critic::Method::guided, "with --attempts 1", "allow more --attempts at a step"}});
}

// At temperature 0 guided writes the next most likely step; candidates of the other methods are all equal.
void require_candidates_differ(const SearchCommandFlags& flags, const critic::MethodOptions& options) {
  if (flags.play.temperature > 0 || !looks_at(options.method, critic::Setting::sampling)) return;
  const bool guided = options.method == critic::Method::guided;
  const bool several = guided
                           ? options.attempts > 1 && options.retry == critic::Retry::independent
                           : options.n > 1 || (looks_at(options.method, critic::Setting::width) && options.width > 1);
  if (several)
    throw WrongUsage(
        "search: at temperature 0 all samples of --method {} are the same. Give a --temperature above 0, or choose "
        "--method greedy{}.",
        flags.method, guided ? " or --retry anew" : ", or guided, which takes the next most likely step");
}

// Refuses limits that nothing could reach.
void require_budget_used(const SearchCommandFlags& flags, const critic::SearchOptions& options) {
  if (options.budget.critic_tokens && !needs_critic(options.method))
    throw WrongUsage("search: --budget critic_tokens does nothing: --method {} asks no critic here. Leave it out.",
                     flags.method);
  const bool writes = flags.critic.critic == "generative" || flags.critic.critic == "self-score";
  if (options.budget.critic_tokens && !writes)
    throw WrongUsage("search: --budget critic_tokens does nothing: --critic {} writes nothing. Leave it out.",
                     flags.critic.critic);
  const env::Suite& suite = *options.suite;
  const std::string& baseline = suite.options().baseline;
  const bool plays_with_tools = !suite.info().baselines.empty() && baseline.empty();
  if (options.budget.tool_seconds && !plays_with_tools)
    throw WrongUsage("search: --budget tool_seconds does nothing: no tool is called in {}{}. Leave it out.",
                     suite.name(), baseline.empty() ? "" : " with --baseline " + baseline);
}

// An oracle without labels rejects nothing: every method would work as if it had no critic.
void require_oracle_knows(const SearchCommandFlags& flags, const critic::SearchOptions& options) {
  if (flags.critic.critic != "oracle" || !needs_critic(options.method)) return;
  const env::Suite& suite = *options.suite;
  if (env::has_labelled_steps(suite)) return;
  std::vector<std::string> with_expert;
  for (const std::string& name : env::suite_names())
    if (env::Suite(name).info().has_expert) with_expert.push_back(name);
  throw WrongUsage(
      "search: --critic oracle knows no step of {}{}{}, so it would judge nothing. Choose another --critic, or a suite "
      "with an expert: {}.",
      suite.name(), suite.options().role == env::kSolver ? "" : " in role " + suite.options().role,
      suite.options().baseline.empty() ? "" : " with --baseline " + suite.options().baseline,
      fmt::join(with_expert, ", "));
}

void require_asked(const SearchCommandFlags& flags, const critic::MethodOptions& options) {
  if (flags.critic_flag.empty() || needs_critic(options)) return;
  const bool ranks = flags.method == "best-of-n" || flags.method == "weighted-majority";
  throw WrongUsage(
      "search: --method {} asks no critic{}, and {} is given. {}.", flags.method,
      ranks ? " where it ranks by score" : "", flags.critic_flag,
      ranks ? "Give --rank min, mean, last or product, or leave it out" : "Leave it out, or choose another method");
}

// Math-Shepherd's form has no pictures; without this check every task would fail.
void require_text(const SearchCommandFlags& flags, const critic::SearchOptions& options) {
  if (flags.critic.critic != "process-reward" || flags.critic.form != "shepherd" || !needs_critic(options.method))
    return;
  if (env::shows_pictures(*options.suite, options.split, options.seed))
    throw WrongUsage(
        "search: the tasks of {} have pictures, which --critic-form shepherd cannot send. Choose another form or "
        "critic.",
        options.suite->name());
}

// Throws Interrupted if it was stopped.
critic::SearchSummary search_into(const RunPlace& place, const Json& config, const critic::SearchOptions& options,
                                  agents::Policy& policy, critic::StepCritic* critic, const std::string& label) {
  const env::SuiteInfo& info = options.suite->info();
  if (place.resume) accept_mended_tasks(place.folder, config, info);
  const auto store = record::EpisodeStore::create(place.folder, config, place.resume);
  keep_task_hashes(place.folder, info);
  const auto run = record::RunReader::open(place.folder);
  watch_interrupts();
  {
    Progress progress(label, static_cast<std::int64_t>(options.tasks), "tasks",
                      static_cast<std::int64_t>(store->finished().size()));
    critic::search_tasks(policy, critic, options, {store.get(), run.get(), [&] { progress.add(1); }, &interrupted()});
    store->flush();
  }
  if (interrupted())
    throw Interrupted(fmt::format("{}: stopped. Rerun the same command with {} to resume.", label, place.go_on));
  critic::SearchSummary summary = critic::summarize_searches(*run);
  store->finish(to_json(summary));
  return summary;
}

void require_none_failed(const record::RunReader& run, const RunPlace& place) {
  std::string first;
  run.for_each(
      [&](const record::Episode& episode) {
        if (first.empty() && episode.status == record::EpisodeStatus::failed)
          first = fmt::format("task {}: {}", episode.task_index, episode.failure);
      },
      record::RunReader::Detail::without_turns);
  if (!first.empty())
    throw Error(
        "search: some tasks failed and are excluded from all figures. First error: {} Fix it and rerun with {}.", first,
        place.go_on);
}

// --cache is for the servers of both.
void require_server_for_cache(const SearchCommandFlags& flags, const agents::PolicySource& solver, bool has_critic) {
  std::vector<agents::PolicySource> policies{solver};
  if (has_critic)
    for (agents::PolicySource& one : critic_policies(flags.critic, &solver)) policies.push_back(std::move(one));
  require_server("search", flags.critic.cache, policies);
}

void run_search(const SearchCommandFlags& flags) {
  agents::PolicySource source = find_policy(flags.policy);
  use_cache(source, flags.critic.cache);
  use_memory(source, flags.memory);
  use_device(source, flags.device);
  const agents::RolloutOptions asked = rollout_options(flags.play, flags.suite);
  const critic::SearchOptions options = search_options(flags, asked);
  require_server_for_cache(flags, source, needs_critic(options.method));
  require_candidates_differ(flags, options.method);
  require_asked(flags, options.method);
  require_budget_used(flags, options);
  require_oracle_knows(flags, options);
  require_text(flags, options);
  const auto policy = agents::open_policy(source);
  tell_memory(*policy);
  require_plays("search", policy->capabilities(), asked);
  require_searches(policy->capabilities(), options);
  const Json config = search_json(flags, asked, options, source);
  OpenCritic open;
  if (needs_critic(options.method)) open = open_critic(flags.critic, policy.get(), &source);
  const RunPlace place = run_place("search", "search-" + flags.suite, flags.out, flags.resume);
  const critic::SearchSummary summary =
      search_into(place, config, options, *policy, open.critic.get(), "search " + flags.suite);
  const std::vector<const agents::Policy*> policies{policy.get(), open.policy.get()};
  if (flags.json) {
    Json figures = printed_search(to_json(summary));
    figures["run"] = place.folder.string();
    if (const double usd = usd_paid(policies); usd > 0) figures["cost"] = {{"usd", usd}};
    print_measured(std::move(figures), config.at(kProvenance));
  } else {
    print_text(fmt::format("{}\nsearch: {}\n", critic::search_table(summary), place.folder.string()));
  }
  note_paid("search", policies);
  require_none_failed(*record::RunReader::open(place.folder), place);
  if (summary.damaged > 0)
    throw Error("search: {} tasks have a damaged journal and are excluded from all figures. Restore {} from a copy.",
                summary.damaged, place.folder.string());
}

void add_method_options(CLI::App& command, SearchCommandFlags& flags) {
  command
      .add_option(
          "--method", flags.method,
          "Search method: greedy, best-of-n, majority, weighted-majority, guided (rewrites steps found wrong), beam, "
          "diverse-beam, mcts or particles")
      ->type_name("<name>")
      ->capture_default_str()
      ->group(kSearchFlags);
  command
      .add_option(
          "--budget", flags.budget,
          "Budget of a task, as policy_tokens=400,wall=60: policy_tokens, critic_tokens, env_steps, tool_seconds, wall")
      ->type_name("<limits>")
      ->check(some_text())
      ->group(kSearchFlags);
  command.add_option("--samples", flags.n, "Number of trajectories, beams or particles")
      ->capture_default_str()
      ->check(whole_number_in(1, 4096))
      ->group(kSearchFlags);
  add_old_name(command, "--n", "--samples");
  command.add_option("--width", flags.width, "Candidates per step (beam, diverse-beam, mcts)")
      ->capture_default_str()
      ->check(whole_number_in(1, 1024))
      ->group(kSearchFlags);
  command.add_option("--attempts", flags.attempts, "Maximum number of attempts at a step (guided)")
      ->capture_default_str()
      ->check(whole_number_in(1, 1024))
      ->group(kSearchFlags);
  command
      .add_option(
          "--keep", flags.keep,
          "Attempt that guided keeps: likeliest (highest P(correct) times the policy's probability), last or best (the "
          "first that is accepted; if none is, the last or the one with the highest P(correct))")
      ->type_name("<name>")
      ->capture_default_str()
      ->check(one_of(critic::keep_names()))
      ->group(kSearchFlags);
  command
      .add_option(
          "--retry", flags.retry,
          "How to rewrite a rejected step: anew (never repeats a rejected one) or independent (as in SPC) (guided)")
      ->type_name("<name>")
      ->capture_default_str()
      ->check(one_of({"anew", "independent"}))
      ->group(kSearchFlags);
  command
      .add_option(
          "--rank", flags.rank,
          "Rank of trajectories: score (the policy's own), or min, mean, last or product of the critic's P(correct) "
          "(default: score for best-of-n and weighted-majority, else min)")
      ->type_name("<name>")
      ->check(some_text())
      ->group(kSearchFlags);
  command
      .add_flag("--no-speculation", flags.no_speculation,
                "Wait for the critic's verdict on a step before writing the next")
      ->group(kSearchFlags);
}

}  // namespace

void add_search(CLI::App& app) {
  auto flags = std::make_shared<SearchCommandFlags>();
  flags->play.command = "search";
  CLI::App* command = app.add_subcommand("search", "Answer a suite's tasks by search: a critic checks the steps");
  command->add_option("--suite", flags->suite, "Suite to play; 'agon suites' lists them")
      ->type_name("<name>")
      ->capture_default_str()
      ->group(kDataFlags);
  add_task_options(*command, flags->play);
  add_method_options(*command, *flags);
  command->add_option("--policy", flags->policy, "Model folder or server (default: models/agon-tiny)")
      ->type_name("<path>")
      ->group(kPolicyFlags);
  add_cache_option(*command, flags->critic.cache)->group(kPolicyFlags);
  add_memory_options(*command, flags->memory, kPolicyFlags);
  add_device_option(*command, flags->device)->group(kPolicyFlags);
  add_sampling_options(*command, flags->play);
  command->get_option("--temperature")
      ->description(
          "Temperature of the samples; guided with --retry anew has 0.5 unless given, and at 0 takes the next most "
          "likely step");
  add_critic_options(*command, flags->critic, "critic-");
  command->add_option("--out", flags->out, "Run folder to write (default: runs/search-<suite>-<time>)")
      ->type_name("<path>")
      ->group(kOutputFlags);
  command->add_flag("--resume", flags->resume, "Resume the search in --out")->group(kOutputFlags);
  command->add_flag("--json", flags->json, "Print the summary as one JSON object")->group(kOutputFlags);
  command->callback([flags, command] {
    flags->critic.seed = flags->play.seed;
    for (const CLI::Option* option : command->get_options())
      if (option->get_group() == kCriticFlags && option->count() > 0) flags->critic_flag = option->get_name();
    require_method_flags_used(*command, *flags);
    require_sampling_used(*command, flags->play);
    require_used(*command, flags->critic, "critic-");
    if (command->count("--temperature") == 0 && writes_anew(*flags)) flags->play.temperature = kAnewTemperature;
    run_search(*flags);
  });
}

}  // namespace agon::cli
