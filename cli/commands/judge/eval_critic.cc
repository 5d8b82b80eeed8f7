// agon eval-critic - measures how well a critic tells right steps from wrong ones: steps of a suite's experts with
// errors put in, steps that a policy wrote, or steps of a published file.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "cli/commands/commands.h"
#include "cli/flags/cache_flag.h"
#include "cli/flags/critic_flags.h"
#include "cli/flags/flag_use.h"
#include "cli/flags/play_flags.h"
#include "cli/flags/usage.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/paid.h"
#include "cli/provenance.h"
#include "cli/search_place.h"
#include "cli/tables/critic_table.h"
#include "core/error.h"
#include "core/progress.h"
#include "core/text.h"
#include "critic/labelled_steps.h"
#include "critic/step_files.h"
#include "env/wrappers/two_turn.h"
#include "record/episode_store.h"
#include "record/run_kind.h"
#include "record/run_reader.h"

namespace agon::cli {
namespace {

using record::RunKind;

constexpr std::size_t kBatch = 256;  // steps that are judged in one call

struct EvalCriticFlags {
  CriticFlags critic;
  std::vector<std::string> suites, runs, files;
  std::string split = "test";
  std::uint64_t tasks = 100;
  int level = 0;
  bool json = false;
};

// The steps of one row of the table.
struct Steps {
  std::string name;
  std::vector<critic::LabelledStep> steps;
};

env::Split split_named(const std::string& name) { return name == "train" ? env::Split::train : env::Split::test; }

[[noreturn]] void stop() {
  throw Interrupted("eval-critic: stopped before its end, so there are no figures. Rerun the command.");
}

Steps of_suite(const EvalCriticFlags& flags, const std::string& suite) {
  critic::LabelledTasks tasks{of_flags([&] { return env::Suite(suite, {.level = flags.level}); }),
                              split_named(flags.split), 0, flags.tasks, flags.critic.seed};
  const env::SuiteInfo& info = tasks.suite.info();
  if (info.takes_file)
    throw WrongUsage(
        "eval-critic: suite {} plays a task file, which does not label steps. Choose another --suite, or give a file "
        "of labelled steps (ProcessBench, ...) with --file.",
        suite);
  if (tasks.split == env::Split::test) tasks.tasks = std::min(tasks.tasks, info.test_tasks);
  Progress progress("eval-critic: steps of " + suite, static_cast<std::int64_t>(tasks.tasks), "tasks");
  Steps steps{suite, critic::expert_steps(tasks, [&] {
                progress.add(1);
                return !interrupted();
              })};
  if (interrupted()) stop();
  return steps;
}

Steps of_run(const std::string& folder) {
  const auto run = record::RunReader::open(folder);
  const Json config = run->config();
  if (config.contains("file"))
    throw Error(
        "eval-critic: run {} was played on a task file, which does not label steps. Give a run of another suite.",
        folder);
  if (const RunKind kind = record::run_kind_of(config); kind != RunKind::episodes && kind != RunKind::search)
    throw Error("eval-critic: {} holds no episodes of a suite. Give a run of agon run, eval or search.", folder);
  env::SuiteOptions options;
  options.level = config.at("level");
  options.role = config.value("role", options.role);
  options.search = search_place_in(config, {});
  options.baseline = config.value("baseline", "");
  options.two_turn = config.value("two_turn", false);
  options.reexamine = config.value("reexamine", "");
  critic::LabelledTasks tasks{.suite = env::Suite(config.at("suite"), options)};
  tasks.split = split_named(config.at("split"));
  tasks.seed = config.at("seed");
  std::vector<record::Episode> episodes;
  run->for_each([&](const record::Episode& episode) { episodes.push_back(episode); }, record::RunReader::Detail::whole);
  return {folder, critic::episode_steps(tasks, episodes)};
}

std::vector<Steps> collected(const EvalCriticFlags& flags) {
  std::vector<Steps> all;
  const bool none = flags.suites.empty() && flags.runs.empty() && flags.files.empty();
  for (const std::string& suite : none ? std::vector<std::string>{"charts"} : flags.suites)
    all.push_back(of_suite(flags, suite));
  for (const std::string& run : flags.runs) all.push_back(of_run(run));
  for (const std::string& file : flags.files) all.push_back({file, critic::read_step_file(file)});
  return all;
}

std::vector<critic::JudgedStep> judged(const OpenCritic& open, const Steps& steps) {
  Progress progress(fmt::format("eval-critic: {} on {}", open.label, steps.name), std::ssize(steps.steps), "steps");
  std::vector<critic::JudgedStep> all = critic::judge_all(*open.critic, steps.steps, kBatch, [&](std::size_t count) {
    progress.add(static_cast<std::int64_t>(count));
    return !interrupted();
  });
  if (interrupted()) stop();
  return all;
}

void eval_critic(const EvalCriticFlags& flags) {
  watch_interrupts();
  require_server("eval-critic", flags.critic.cache, critic_policies(flags.critic, nullptr));
  const OpenCritic open = open_critic(flags.critic);
  Json rows = Json::array();
  for (const Steps& steps : collected(flags)) {
    rows.push_back(critic_json(steps.name, open.label, judged(open, steps), flags.critic.seed));
  }
  const Json report = critic_report(std::move(rows));
  if (flags.json) {
    Json about{{"critic", critic_record(flags.critic)}, {"files", Json::array()}, {"runs", flags.runs}};
    for (const std::string& file : flags.files) about["files"].push_back(file_record(file));
    print_measured(report, about);
  } else {
    print_text(critic_table(report));
  }
  note_paid("eval-critic", {open.policy.get()});
}

}  // namespace

void add_eval_critic(CLI::App& app) {
  auto flags = std::make_shared<EvalCriticFlags>();
  CLI::App* command = app.add_subcommand("eval-critic", "Measure how well a critic tells right steps from wrong ones");
  command
      ->add_option("--suite", flags->suites,
                   "Suite whose expert steps are judged, right ones and ones made wrong (default: charts)")
      ->type_name("<name>")
      ->group(kDataFlags);
  command->add_option("--run", flags->runs, "Run folder whose policy's steps are judged")
      ->type_name("<path>")
      ->group(kDataFlags);
  command->add_option("--file", flags->files, "File of ProcessBench, PRM800K pairs, DeltaBench or labelled steps")
      ->type_name("<path>")
      ->group(kDataFlags);
  command->add_option("--split", flags->split, "Split of the tasks: test or train")
      ->type_name("<name>")
      ->check(one_of({"test", "train"}))
      ->capture_default_str()
      ->group(kDataFlags);
  command->add_option("--tasks", flags->tasks, "Number of tasks of each suite")
      ->capture_default_str()
      ->check(whole_number_in(1, 1'000'000))
      ->group(kDataFlags);
  command->add_option("--level", flags->level, "Difficulty (default: the suite's)")->group(kDataFlags);
  command->add_option("--seed", flags->critic.seed, "Seed of tasks, critiques and intervals")
      ->capture_default_str()
      ->group(kDataFlags);
  add_critic_options(*command, flags->critic);
  add_cache_option(*command, flags->critic.cache)->group(kCriticFlags);
  command->add_flag("--json", flags->json, "Print one JSON object")->group(kOutputFlags);
  command->callback([flags, command] {
    require_used(*command, flags->critic);
    require_each_once("eval-critic", "--suite", flags->suites);
    require_each_path_once("eval-critic", "--run", flags->runs);
    require_each_path_once("eval-critic", "--file", flags->files);
    const bool of_suites = !flags->suites.empty() || (flags->runs.empty() && flags->files.empty());
    for (const char* flag : {"--split", "--tasks", "--level"})
      require_used(*command, {{flag, of_suites, "where no suite's steps are judged", "name a --suite"}});
    eval_critic(*flags);
  });
}

}  // namespace agon::cli
