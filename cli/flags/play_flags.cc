#include "cli/flags/play_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "cli/flags/flag_use.h"
#include "cli/flags/old_names.h"
#include "cli/flags/usage.h"
#include "env/kit/task_pictures.h"

namespace agon::cli {
namespace {

constexpr std::uint64_t kDefaultTasks = 100;

// The number of tasks to play: at most all of the test split. Reports if the user asked for more.
std::uint64_t tasks_of(const PlayFlags& flags, const env::SuiteInfo& info) {
  const std::uint64_t tasks = flags.tasks.value_or(kDefaultTasks);
  if (flags.split == "train" || tasks <= info.test_tasks) return tasks;
  if (flags.tasks)
    std::fputs(fmt::format("{}: {} has {} test tasks; playing all of them\n", flags.command, info.name, info.test_tasks)
                   .c_str(),
               stderr);
  return info.test_tasks;
}

}  // namespace

void add_task_options(CLI::App& command, PlayFlags& flags) {
  command.add_option("--file", flags.file, "Task file of the suites jsonl, questions and mat_coding")
      ->type_name("<path>")
      ->group(kDataFlags);
  command
      .add_option("--check", flags.check,
                  "Check of a task file's pictures before the run: ends (header and end) or full (decode each)")
      ->type_name("<name>")
      ->capture_default_str()
      ->check(one_of({"ends", "full"}))
      ->group(kDataFlags);
  command.add_option("--search", flags.search, "Index file or server to search, as in 'agon query' (suite questions)")
      ->type_name("<where>")
      ->group(kDataFlags);
  command.add_option("--tasks", flags.tasks, "Number of tasks, starting at the first of the split")
      ->default_str(fmt::format("{}", kDefaultTasks))
      ->check(whole_number_in(1, 1'000'000'000))
      ->group(kDataFlags);
  command.add_option("--level", flags.level, "Difficulty (default: the suite's)")
      ->check(whole_number_in(1, 1'000'000))
      ->group(kDataFlags);
  command.add_option("--split", flags.split, "Split of the tasks: test or train")
      ->type_name("<name>")
      ->capture_default_str()
      ->check(one_of({"test", "train"}))
      ->group(kDataFlags);
  command.add_option("--seed", flags.seed, "Root of every random stream")
      ->capture_default_str()
      ->check(whole_number_in(0, ~std::uint64_t{0}))
      ->group(kDataFlags);
  command.add_flag("--two-turn", flags.two_turn, "Answer, re-examine and answer again")->group(kDataFlags);
  command
      .add_option("--reexamine", flags.reexamine,
                  "Text between the two answers of --two-turn, or after the first solution of --role refiner")
      ->type_name("<text>")
      ->check(some_text())
      ->group(kDataFlags);
  command
      .add_option(
          "--role", flags.role,
          "Role of the policy: solver; refiner or verifier of a first solution; critic or sneaky generator of a step")
      ->type_name("<name>")
      ->capture_default_str()
      ->group(kDataFlags);
  command.add_option("--baseline", flags.baseline, "Play without the suite's tools: direct, cot or rag")
      ->type_name("<name>")
      ->check(some_text())
      ->group(kDataFlags);
}

void add_sampling_options(CLI::App& command, PlayFlags& flags) {
  command.add_option("--temperature", flags.temperature, "Temperature of the samples; 0 is greedy")
      ->capture_default_str()
      ->check(number_in(0, 100))
      ->group(kPolicyFlags);
  command.add_option("--top-p", flags.top_p, "Probability mass of the tokens to sample from")
      ->capture_default_str()
      ->check(number_in(kLeastTopP, 1))
      ->group(kPolicyFlags);
  command.add_option("--max-tokens", flags.max_tokens, "Maximum number of tokens per turn")
      ->capture_default_str()
      ->check(whole_number_in(1, 1'000'000))
      ->group(kPolicyFlags);
  command.add_option("--in-flight", flags.threads, "Number of tasks played at the same time; changes no result")
      ->capture_default_str()
      ->check(whole_number_in(1, 1024))
      ->group(kPolicyFlags);
  add_old_name(command, "--threads", "--in-flight");
}

void add_play_options(CLI::App& command, PlayFlags& flags) {
  add_task_options(command, flags);
  command
      .add_option("--samples", flags.samples,
                  "Samples per task, in addition to one greedy answer; only 1 if --temperature is 0")
      ->capture_default_str()
      ->check(whole_number_in(1, 4096))
      ->group(kPolicyFlags);
  add_sampling_options(command, flags);
}

void require_sampling_used(const CLI::App& command, const PlayFlags& flags) {
  require_used(command, {{"--top-p", flags.temperature > 0, "at temperature 0", "give a --temperature above 0"}});
}

void settle_samples(const CLI::App& command, PlayFlags& flags) {
  require_sampling_used(command, flags);
  if (flags.temperature <= 0 && command.count("--samples") == 0) flags.samples = 1;
  require_samples_differ(command.get_name(), flags.samples, flags.temperature);
}

agents::RolloutOptions rollout_options(const PlayFlags& flags, const std::string& suite) {
  env::SuiteOptions asked{flags.level, "", flags.two_turn, flags.reexamine, flags.role, {}, flags.baseline};
  const env::Suite without_files = of_flags([&] { return env::Suite(suite, asked); });
  asked.file = flags.file;  // a faulty file or index is not an error of the command line
  asked.search = flags.search;
  agents::RolloutOptions options{.suite = without_files.with(asked)};
  options.split = flags.split == "train" ? env::Split::train : env::Split::test;
  options.samples = flags.samples;
  options.sampling.temperature = flags.temperature;
  options.sampling.top_p = flags.top_p;
  options.sampling.max_tokens = flags.max_tokens;
  options.seed = flags.seed;
  options.threads = flags.threads;
  const env::SuiteInfo& info = options.suite.info();
  if (!flags.file.empty() && !info.takes_file)
    throw WrongUsage("{}: --file is for suite jsonl, questions or mat_coding, not for '{}'. Add --suite jsonl.",
                     flags.command, suite);
  if (flags.check == "full" && !info.file_tasks)
    throw WrongUsage("{}: --check full decodes the pictures of a task file. Add --file, or leave --check out.",
                     flags.command);
  if (flags.check == "full") env::decode_pictures(flags.file, *info.file_tasks);
  if (!flags.search.empty() && suite != "questions")
    throw WrongUsage("{}: --search is for suite questions, not for '{}'. Leave it out.", flags.command, suite);
  const bool searches = flags.baseline.empty() || flags.baseline == "rag";
  if (!flags.search.empty() && !searches)
    throw WrongUsage("{}: --search does nothing with --baseline {}, which does not search. Leave one of them out.",
                     flags.command, flags.baseline);
  if (!flags.reexamine.empty() && !flags.two_turn && flags.role != "refiner")
    throw WrongUsage("{}: --reexamine does nothing where a task is answered once. Add --two-turn, or leave it out.",
                     flags.command);
  if (options.split == env::Split::train && !info.has_train_split)
    throw WrongUsage("{}: suite '{}' has no train split. Use --split test.", flags.command, suite);
  if (options.split == env::Split::test && info.test_tasks == 0)
    throw WrongUsage("{}: suite '{}' has no tasks of its own. Give it a task file with --file.", flags.command, suite);
  options.tasks = tasks_of(flags, info);
  return options;
}

}  // namespace agon::cli
