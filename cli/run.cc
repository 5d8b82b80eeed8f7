// agon run - plays a suite's tasks with a policy and records every episode.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <iostream>
#include <optional>

#include "agents/local/local_policy.h"
#include "agents/rollout.h"
#include "agents/run_summary.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/model_folder.h"
#include "cli/usage.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/progress.h"
#include "core/text.h"
#include "env/episode_store.h"
#include "env/run_schema.h"

namespace agon::cli {
namespace {

namespace fs = std::filesystem;

struct RunFlags {
  std::string suite = "charts", split = "test", policy, out, file;
  std::optional<std::uint64_t> tasks;
  std::uint64_t seed = 0;
  int samples = 8, level = 0, threads = 32, max_tokens = 256;
  double temperature = 1.0, top_p = 1.0;
  bool resume = false, json = false;
};

constexpr std::uint64_t kDefaultTasks = 100;
constexpr double kLeastTopP = 1e-6;  // of 0, nothing would be left to sample

// A hash of the file's size, its first and its last MiB: enough to tell one from another without reading gigabytes.
std::uint64_t hash_ends(const fs::path& file) {
  constexpr std::uintmax_t kPart = 1 << 20;
  const std::uintmax_t size = fs::file_size(file);
  std::ifstream stream(file, std::ios::binary);
  std::string seen(std::min(size, 2 * kPart), '\0');
  const auto first = static_cast<std::streamsize>(std::min(size, kPart));
  const auto last = static_cast<std::streamsize>(seen.size()) - first;
  stream.read(seen.data(), first);
  stream.seekg(static_cast<std::streamoff>(size) - last);
  stream.read(seen.data() + first, last);
  if (!stream) throw Error("{}: cannot be read. Check the path.", file.string());
  return hash_text(fmt::format("{} {}", size, seen));
}

// Of every file that shapes what the policy writes: weights, configs, tokenizer, template.
std::string policy_fingerprint(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const fs::path extension = entry.path().extension();
    if (entry.is_regular_file() && (extension == ".safetensors" || extension == ".json" || extension == ".jinja"))
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::string seen;
  for (const fs::path& file : files) seen += fmt::format("{} {:016x}\n", file.filename().string(), hash_ends(file));
  return fmt::format("{:016x}", hash_text(seen));
}

agents::RolloutOptions rollout_options(const RunFlags& flags) {
  agents::RolloutOptions options;
  options.suite = flags.suite;
  options.suite_options = {flags.level, flags.file};
  options.split = flags.split == "train" ? env::Split::train : env::Split::test;
  options.samples = flags.samples;
  options.sampling.temperature = flags.temperature;
  options.sampling.top_p = flags.top_p;
  options.sampling.max_tokens = flags.max_tokens;
  options.seed = flags.seed;
  options.threads = flags.threads;
  if (!flags.file.empty() && flags.suite != "jsonl")
    throw Error("run: --file is for suite jsonl, not for '{}'. Add --suite jsonl.", flags.suite);
  const env::SuiteInfo info = env::suite_info(flags.suite, options.suite_options);
  options.suite_options.level = flags.level ? flags.level : info.default_level;
  if (options.split == env::Split::train && !info.has_train_split)
    throw Error("run: suite '{}' has no train split. Use --split test.", flags.suite);
  if (options.split == env::Split::test && info.test_tasks == 0)
    throw Error("run: suite '{}' has no tasks of its own. Give it a task file with --file.", flags.suite);
  options.tasks = flags.tasks.value_or(kDefaultTasks);
  if (options.split == env::Split::test && options.tasks > info.test_tasks) {
    if (flags.tasks)
      std::fputs(fmt::format("run: {} has {} test tasks; playing all of them\n", flags.suite, info.test_tasks).c_str(),
                 stderr);
    options.tasks = info.test_tasks;
  }
  return options;
}

// Everything that shapes an episode; the number of threads does not.
Json config_of(const RunFlags& flags, const agents::RolloutOptions& options, const fs::path& policy) {
  const env::SuiteInfo info = env::suite_info(flags.suite, options.suite_options);
  Json config{{"suite", flags.suite},
              {"split", flags.split},
              {"level", options.suite_options.level},
              {"tasks", options.tasks},
              {"samples", flags.samples},
              {"seed", flags.seed},
              {"temperature", flags.temperature},
              {"top_p", flags.top_p},
              {"max_tokens", flags.max_tokens},
              {"instructions", info.instructions},
              {"policy", policy.filename().string()},
              {"policy_files", policy_fingerprint(policy)}};
  if (!flags.file.empty()) config["file"] = fmt::format("{:016x}", info.file_hash);
  return config;
}

fs::path default_folder(const RunFlags& flags) {
  return fs::path("runs") / fmt::format("{}-{:%Y%m%d-%H%M%S}", flags.suite, fmt::localtime(std::time(nullptr)));
}

// What every figure is computed from: the recorded episodes, read back.
Json summarize_run(const fs::path& folder) {
  const auto reader = env::RunReader::open(folder);
  std::vector<agents::EpisodeOutcome> outcomes;
  reader->for_each([&](const env::Episode& episode) { outcomes.push_back(agents::outcome_of(episode)); },
                   env::RunReader::Detail::without_images);
  return agents::summarize(reader->config(), outcomes, reader->seconds());
}

std::string first_failure(const fs::path& folder) {
  std::string why;
  env::RunReader::open(folder)->for_each(
      [&](const env::Episode& episode) {
        if (why.empty()) why = episode.failure;
      },
      env::RunReader::Detail::without_turns);
  return why.substr(0, why.find_last_not_of('.') + 1);
}

void play_and_record(const RunFlags& flags, const agents::RolloutOptions& options, agents::Policy& policy,
                     env::EpisodeStore& store, const fs::path& folder) {
  const auto finished = store.finished();
  const auto all = static_cast<std::int64_t>(options.tasks) * (flags.samples + 1);
  Progress progress("run " + flags.suite, all, "episodes", static_cast<std::int64_t>(finished.size()));
  agents::play(
      policy, options, finished,
      [&](env::Episode episode) {
        store.record(std::move(episode));
        progress.add(1);
      },
      &interrupted());
  store.flush();
  if (interrupted())
    throw Interrupted(fmt::format("run: stopped. Go on with the same command and --out {} --resume.", folder.string()));
}

void run(RunFlags flags) {
  const fs::path policy_folder = find_model_folder(flags.policy);
  const agents::RolloutOptions options = rollout_options(flags);
  const Json config = config_of(flags, options, policy_folder);
  const fs::path folder = flags.out.empty() ? default_folder(flags) : fs::path(flags.out);
  if (flags.resume && flags.out.empty()) throw Error("run: --resume needs --out, the folder of the run to go on with.");
  if (flags.resume && !fs::exists(folder / env::kRunDatabase))
    std::fputs(fmt::format("run: nothing to go on with in {}; beginning there\n", folder.string()).c_str(), stderr);
  const auto policy = agents::make_local_policy(policy_folder);  // first: a model that does not load leaves no folder
  const auto store = env::EpisodeStore::create(folder, config, flags.resume);
  watch_interrupts();
  play_and_record(flags, options, *policy, *store, folder);
  const Json summary = summarize_run(folder);
  store->finish(summary);
  if (flags.json)
    std::cout << summary.dump(2) << std::endl;
  else
    std::cout << agents::summary_table(summary) << "\nrun: " << folder.string() << std::endl;
  if (summary["failed"].get<std::int64_t>() > 0)
    throw Error(
        "run: {} of {} episodes failed and are in no figure; the first: {}. Mend that and go on with --out {} "
        "--resume; if the tasks have to change, begin again in another folder.",
        summary["failed"].get<std::int64_t>(), options.tasks * static_cast<std::uint64_t>(flags.samples + 1),
        first_failure(folder), folder.string());
}

}  // namespace

void add_run(CLI::App& app) {
  auto flags = std::make_shared<RunFlags>();
  CLI::App* command = app.add_subcommand("run", "Play a suite's tasks with a policy; record, grade, report");
  const std::string data = "Data", search = "Policy", output = "Output";
  command->add_option("--suite", flags->suite, "suite: see 'agon suites'")->capture_default_str()->group(data);
  command->add_option("--file", flags->file, "task file of suite jsonl")->group(data);
  command->add_option("--tasks", flags->tasks, "tasks, from the first of the split")
      ->default_str(fmt::format("{}", kDefaultTasks))
      ->check(whole_number_in(1, 1'000'000'000))
      ->group(data);
  command->add_option("--level", flags->level, "difficulty (default: the suite's)")
      ->check(whole_number_in(1, 1'000'000))
      ->group(data);
  command->add_option("--split", flags->split, "test or train")
      ->capture_default_str()
      ->check(CLI::IsMember({"test", "train"}))
      ->group(data);
  command->add_option("--seed", flags->seed, "root of every random stream")
      ->capture_default_str()
      ->check(whole_number_in(0, ~std::uint64_t{0}))
      ->group(data);
  command->add_option("--policy", flags->policy, "model folder (default: models/agon-tiny)")->group(search);
  command->add_option("--samples", flags->samples, "samples a task, beside one greedy sample")
      ->capture_default_str()
      ->check(whole_number_in(1, 4096))
      ->group(search);
  command->add_option("--temperature", flags->temperature, "of the samples")
      ->capture_default_str()
      ->check(number_in(0, 100))
      ->group(search);
  command->add_option("--top-p", flags->top_p, "nucleus of the samples")
      ->capture_default_str()
      ->check(number_in(kLeastTopP, 1))
      ->group(search);
  command->add_option("--max-tokens", flags->max_tokens, "tokens a turn at most")
      ->capture_default_str()
      ->check(whole_number_in(1, 1'000'000))
      ->group(search);
  command->add_option("--threads", flags->threads, "groups under way at a time; changes no result")
      ->capture_default_str()
      ->check(whole_number_in(1, 1024))
      ->group(search);
  command->add_option("--out", flags->out, "run folder (default: runs/<suite>-<time>)")->group(output);
  command->add_flag("--resume", flags->resume, "go on with the run in --out")->group(output);
  command->add_flag("--json", flags->json, "print the summary as one JSON object")->group(output);
  command->callback([flags] { run(*flags); });
}

}  // namespace agon::cli
