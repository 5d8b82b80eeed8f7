// agon make-preferences - writes and ranks responses to a suite's tasks, for reward models. The suite ranks them, or
// judges vote and a preference graph ranks them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>

#include "agents/engine/local_policy.h"
#include "agents/model_fingerprint.h"
#include "cli/commands/commands.h"
#include "cli/flags/cache_flag.h"
#include "cli/flags/flag_use.h"
#include "cli/flags/play_flags.h"
#include "cli/flags/usage.h"
#include "cli/interrupt.h"
#include "cli/model_folder.h"
#include "cli/output.h"
#include "cli/paid.h"
#include "cli/play.h"
#include "cli/printed_json.h"
#include "cli/provenance.h"
#include "cli/tables/ranking_table.h"
#include "core/error.h"
#include "core/progress.h"
#include "core/provenance.h"
#include "critic/reward_model/preference_maker.h"
#include "record/episode_store.h"
#include "record/journal_entry.h"
#include "record/run_reader.h"

namespace agon::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char *kPreference = "preference", *kNothing = "no preference", *kFile = "preferences.jsonl";
constexpr std::size_t kTasksAtOnce = 32;
constexpr int kTaskBits = 40;  // bits of a journal's number for the task; the bits above are the suite's number

struct PreferenceFlags {
  std::vector<std::string> suites{"charts"}, policies, judges;
  std::vector<double> temperatures{1.0};
  std::string split = "train", cache, out;
  std::uint64_t tasks = 100, first_task = 0, seed = 0;
  int level = 0, samples = 4, corrupted = 1, responses = 4, max_tokens = 256;
  bool repeats = false, resume = false, json = false;
};

struct Models {
  std::vector<std::unique_ptr<agents::Policy>> policies;
  std::vector<critic::ResponseWriter> writers;
  std::vector<std::unique_ptr<critic::Judge>> judges;
};

std::vector<agents::PolicySource> sources(const std::vector<std::string>& names, const std::string& cache) {
  std::vector<agents::PolicySource> found;
  for (const std::string& name : names) {
    found.push_back(find_policy(name));
    use_cache(found.back(), cache);
  }
  return found;
}

Models open_models(const PreferenceFlags& flags) {
  Models models;
  std::vector<agents::PolicySource> writers =
      sources(flags.policies.empty() ? std::vector<std::string>{""} : flags.policies, flags.cache);
  std::vector<agents::PolicySource> judges = sources(flags.judges, flags.cache), all = writers;
  all.insert(all.end(), judges.begin(), judges.end());
  require_server("make-preferences", flags.cache, all);
  for (agents::PolicySource& source : writers) {
    models.policies.push_back(agents::open_policy(source));
    for (const double temperature : flags.temperatures)
      models.writers.push_back(
          {models.policies.back().get(), fmt::format("{} T={}", source.name(), temperature), temperature});
  }
  for (agents::PolicySource& source : judges) {
    models.policies.push_back(agents::open_policy(source));
    models.judges.push_back(std::make_unique<critic::Judge>(
        *models.policies.back(), critic::JudgeOptions{.max_tokens = flags.max_tokens, .seed = flags.seed}));
  }
  return models;
}

Json config_of(const PreferenceFlags& flags) {
  const auto fingerprints = [](const std::vector<std::string>& names) {
    Json list = Json::array();
    for (const agents::PolicySource& source : sources(names, {}))
      list.push_back({{"policy", source.name()}, {"files", source.fingerprint()}});
    return list;
  };
  const auto records = [](const std::vector<std::string>& names) {
    Json list = Json::array();
    for (const agents::PolicySource& source : sources(names, {})) list.push_back(policy_record(source));
    return list;
  };
  const std::vector<std::string> writers = flags.policies.empty() ? std::vector<std::string>{""} : flags.policies;
  return {{kProvenance, {{"policies", records(writers)}, {"judges", records(flags.judges)}}},
          {"preferences", flags.suites},
          {"split", flags.split},
          {"level", flags.level},
          {"tasks", flags.tasks},
          {"first_task", flags.first_task},
          {"seed", flags.seed},
          {"policies", fingerprints(writers)},
          {"temperatures", flags.temperatures},
          {"samples", flags.samples},
          {"corrupted", flags.corrupted},
          {"responses", flags.responses},
          {"repeats", flags.repeats},
          {"max_tokens", flags.max_tokens},
          {"judges", fingerprints(flags.judges)}};
}

critic::PreferenceOptions options_of(const PreferenceFlags& flags, const std::string& suite) {
  critic::PreferenceOptions options{.suite = of_flags([&] { return env::Suite(suite, {.level = flags.level}); })};
  options.split = flags.split == "train" ? env::Split::train : env::Split::test;
  options.samples = flags.samples;
  options.corrupted = flags.corrupted;
  options.responses = flags.responses;
  options.repeats = flags.repeats;
  options.max_tokens = flags.max_tokens;
  options.seed = flags.seed;
  return options;
}

std::uint64_t tasks_of(const PreferenceFlags& flags, const env::Suite& suite) {
  if (flags.split == "train") return flags.tasks;
  const env::SuiteInfo& info = suite.info();
  const std::uint64_t left = info.test_tasks - std::min(info.test_tasks, flags.first_task);
  if (left == 0)
    throw WrongUsage("make-preferences: suite {} has {} test tasks, so none is left from --first-task {} on. Lower it.",
                     info.name, info.test_tasks, flags.first_task);
  return std::min(flags.tasks, left);
}

// The recorded tasks of suite number `suite`, with or without a set.
class Recorded {
 public:
  explicit Recorded(const record::RunReader& run) {
    for (const char* kind : {kPreference, kNothing})
      for (const record::JournalEntry& entry : run.journal_ends(kind)) known_.insert(entry.task_index);
  }
  bool knows(std::uint64_t key) const { return known_.contains(key); }

 private:
  std::set<std::uint64_t> known_;
};

using Makers = std::vector<std::unique_ptr<critic::PreferenceMaker>>;

// One per suite, made before anything is written, so that an error leaves no folder.
Makers makers_of(const PreferenceFlags& flags, const Models& models) {
  std::vector<critic::Judge*> judges;
  for (const auto& judge : models.judges) judges.push_back(judge.get());
  Makers makers;
  for (const std::string& suite : flags.suites)
    makers.push_back(of_flags(
        [&] { return std::make_unique<critic::PreferenceMaker>(options_of(flags, suite), models.writers, judges); }));
  return makers;
}

void make_suite(const PreferenceFlags& flags, std::size_t number, critic::PreferenceMaker& maker,
                const Recorded& recorded, record::EpisodeStore& store) {
  const auto key = [&](std::uint64_t task) { return (std::uint64_t{number} << kTaskBits) + task; };
  std::vector<std::uint64_t> left;
  const std::uint64_t tasks = tasks_of(flags, maker.suite());
  for (std::uint64_t task = flags.first_task; task < flags.first_task + tasks; ++task)
    if (!recorded.knows(key(task))) left.push_back(task);
  Progress progress("preferences: " + maker.suite().name(), static_cast<std::int64_t>(tasks), "tasks",
                    static_cast<std::int64_t>(tasks) - std::ssize(left));
  for (std::size_t begin = 0; begin < left.size() && !interrupted(); begin += kTasksAtOnce) {
    const auto from = left.begin() + static_cast<std::ptrdiff_t>(begin);
    const std::vector<std::uint64_t> some(from, from + std::min<std::ptrdiff_t>(kTasksAtOnce, left.end() - from));
    const std::vector<std::optional<critic::MadePreference>> made = maker.make(some);
    for (std::size_t i = 0; i < some.size(); ++i) {
      std::vector<Image> images;
      Json body = made[i] ? critic::made_json(*made[i], images) : Json::object();
      if (!flags.judges.empty()) body["judged"] = critic::counts_json(maker.judged()[i]);
      store.record_entry({key(some[i]), 0, made[i] ? kPreference : kNothing, std::move(body), std::move(images)});
    }
    progress.add(std::ssize(some));
  }
}

Json summarize(const record::RunReader& run, const PreferenceFlags& flags) {
  Json summary{{"sets", 0}, {"tasks", 0}, {"suites", Json::object()}};
  for (std::size_t number = 0; number < flags.suites.size(); ++number) {
    const auto is_own = [&](const record::JournalEntry& entry) { return entry.task_index >> kTaskBits == number; };
    Json row{{"tasks", 0}, {"sets", 0}, {"responses", 0}, {"chosen", 0}, {"arcs", 0}, {"removed", 0}};
    if (!flags.judges.empty()) row["judged"] = critic::counts_json({});
    const auto add = [&](const char* name, std::size_t count) { row[name] = row[name].get<std::size_t>() + count; };
    const auto add_judged = [&](const Json& body) {
      if (!row.contains("judged") || !body.contains("judged")) return;
      for (auto& [name, count] : row["judged"].items())
        count = count.get<std::int64_t>() + body["judged"].at(name).get<std::int64_t>();
    };
    for (const record::JournalEntry& entry : run.journal_ends(kPreference)) {
      if (!is_own(entry)) continue;
      add("sets", 1);
      add("responses", entry.body.at("responses").size());
      add("chosen", entry.body.at("chosen").size());
      add_judged(entry.body);
      if (!entry.body.contains("graph")) continue;
      add("arcs", entry.body["graph"]["arcs"].size());
      add("removed", entry.body["graph"]["removed"].size());
    }
    add("tasks", row["sets"].get<std::size_t>());
    for (const record::JournalEntry& entry : run.journal_ends(kNothing)) {
      if (!is_own(entry)) continue;
      add("tasks", 1);
      add_judged(entry.body);
    }
    for (const char* name : {"tasks", "sets"})
      summary[name] = summary[name].get<std::size_t>() + row[name].get<std::size_t>();
    summary["suites"][flags.suites[number]] = std::move(row);
  }
  return summary;
}

std::string table(const Json& summary) {
  std::string text = fmt::format("{:<12} {:>7} {:>7} {:>10} {:>8} {:>8} {:>8}\n", "suite", "tasks", "sets", "responses",
                                 "chosen", "arcs", "removed");
  for (const auto& [suite, row] : summary.at("suites").items()) {
    text += fmt::format("{:<12}", suite);
    for (const auto& [name, width] :
         {std::pair{"tasks", 8}, {"sets", 8}, {"responses", 11}, {"chosen", 9}, {"arcs", 9}, {"removed", 9}})
      text += fmt::format("{:>{}}", row.at(name).get<std::size_t>(), width);
    text += "\n";
    if (row.contains("judged")) text += "  " + verdicts_text(row.at("judged")) + "\n";
  }
  return text;
}

std::string judged_of_all(const Json& summary) {
  std::string text;
  for (const auto& [suite, row] : summary.at("suites").items())
    text += fmt::format("\n  {}: {}", suite, verdicts_text(row.at("judged")));
  return text;
}

void write_file(const record::RunReader& run, const Json& summary, const fs::path& folder,
                const PreferenceFlags& flags) {
  const auto image = [&](const std::string& hash) { return run.image(hash); };
  std::vector<critic::Preference> preferences;
  for (const record::JournalEntry& entry : run.journal_ends(kPreference))
    preferences.push_back(critic::preference_in(entry.body, image));
  if (preferences.empty() && !flags.judges.empty())
    throw Error("make-preferences: no task gave responses that the judges tell apart.{}", judged_of_all(summary));
  if (preferences.empty())
    throw Error(
        "make-preferences: no task gave {} responses with a single best one. Give more --samples, another "
        "--temperature, more --corrupted or --max-tokens, or fewer --responses.",
        flags.responses);
  critic::write_preferences(folder / kFile, preferences);
}

// Two equal writers would write the same texts.
void require_different_writers(const PreferenceFlags& flags) {
  for (std::size_t i = 0; i < flags.temperatures.size(); ++i)
    if (std::ranges::count(flags.temperatures, flags.temperatures[i]) > 1)
      throw WrongUsage("make-preferences: --temperature {} is given twice. Give it once; --samples says how many.",
                       flags.temperatures[i]);
  require_samples_differ("make-preferences", flags.samples, std::ranges::min(flags.temperatures));
  const std::vector<agents::PolicySource> policies = sources(flags.policies, {});
  for (std::size_t i = 0; i < policies.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (policies[i] == policies[k])
        throw WrongUsage(
            "make-preferences: --policy {} is given twice. Give it once; --samples says how many it writes.",
            flags.policies[i]);
}

void make_preferences(const PreferenceFlags& flags) {
  require_each_once("make-preferences", "--suite", flags.suites);
  require_different_writers(flags);
  const Json config = config_of(flags);
  const Models models = open_models(flags);
  const Makers makers = makers_of(flags, models);
  for (const auto& maker : makers) tasks_of(flags, maker->suite());  // throws before there is a folder
  const RunPlace place = run_place("make-preferences", "preferences", flags.out, flags.resume);
  const auto store = record::EpisodeStore::create(place.folder, config, place.resume);
  const auto run = record::RunReader::open(place.folder);
  watch_interrupts();
  for (std::size_t suite = 0; suite < flags.suites.size() && !interrupted(); ++suite)
    make_suite(flags, suite, *makers[suite], Recorded(*run), *store);
  store->flush();
  if (interrupted())
    throw Interrupted(fmt::format("make-preferences: stopped. Rerun the same command with {} to resume.", place.go_on));
  const Json summary = summarize(*run, flags);
  write_file(*run, summary, place.folder, flags);
  store->finish(summary);
  if (flags.json) {
    Json printed = printed_preferences(summary);
    printed["run"] = place.folder.string();
    print_measured(std::move(printed), config.at(kProvenance));
  } else {
    print_text(fmt::format("{}\npreferences: {}\n", table(summary), (place.folder / kFile).string()));
  }
  std::vector<const agents::Policy*> policies;
  for (const auto& policy : models.policies) policies.push_back(policy.get());
  note_paid("make-preferences", policies);
}

}  // namespace

void add_make_preferences(CLI::App& app) {
  auto flags = std::make_shared<PreferenceFlags>();
  CLI::App* command = app.add_subcommand("make-preferences", "Write and rank responses, to train reward models");
  command->add_option("--suite", flags->suites, "Suite of one turn")
      ->type_name("<name>")
      ->capture_default_str()
      ->allow_extra_args(false)
      ->group(kDataFlags);
  command->add_option("--split", flags->split, "Split of the tasks: train or test")
      ->type_name("<name>")
      ->check(one_of({"train", "test"}))
      ->capture_default_str()
      ->group(kDataFlags);
  command->add_option("--tasks", flags->tasks, "Number of tasks of each suite")
      ->check(whole_number_in(1, 1'000'000'000))
      ->capture_default_str()
      ->group(kDataFlags);
  command->add_option("--first-task", flags->first_task, "First task of each suite")
      ->check(whole_number_in(0, 1'000'000'000))
      ->capture_default_str()
      ->group(kDataFlags);
  command->add_option("--level", flags->level, "Difficulty (default: the suite's)")->group(kDataFlags);
  command->add_option("--seed", flags->seed, "Seed of tasks and samples")->capture_default_str()->group(kDataFlags);
  command
      ->add_option("--policy", flags->policies,
                   "Model folder or server that writes responses (default: models/agon-tiny)")
      ->type_name("<path>")
      ->allow_extra_args(false)
      ->group(kPolicyFlags);
  add_cache_option(*command, flags->cache)->group(kPolicyFlags);
  command->add_option("--temperature", flags->temperatures, "Temperature of the samples")
      ->check(number_in(0, 100))
      ->capture_default_str()
      ->allow_extra_args(false)
      ->group(kPolicyFlags);
  command->add_option("--samples", flags->samples, "Samples of a task by each policy at each temperature")
      ->check(whole_number_in(0, 4096))
      ->capture_default_str()
      ->group(kPolicyFlags);
  command->add_option("--corrupted", flags->corrupted, "Number of expert solutions per task with one step made wrong")
      ->check(whole_number_in(0, 4096))
      ->capture_default_str()
      ->group(kPolicyFlags);
  command
      ->add_option("--max-tokens", flags->max_tokens,
                   "Maximum number of tokens per response, and per verdict of a judge")
      ->check(whole_number_in(1, 1'000'000))
      ->capture_default_str()
      ->group(kPolicyFlags);
  command
      ->add_option(
          "--judge", flags->judges,
          "Model folder or server of a judge that compares pairs; the judges' votes rank the responses (default: the "
          "suite ranks them)")
      ->type_name("<path>")
      ->allow_extra_args(false)
      ->group(kPolicyFlags);
  CLI::Option* repeats =
      command
          ->add_flag("--repeats", flags->repeats,
                     "Keep all responses, equal texts as often as they were written, as in best-of-n")
          ->group(kOutputFlags);
  command
      ->add_option("--responses", flags->responses,
                   "Number of responses per set, at least 2, with a single best one; 0: all")
      ->check([several = whole_number_in(2, 4096)](const std::string& text) {
        return text == "0" ? std::string() : several(text);
      })
      ->capture_default_str()
      ->excludes(repeats)
      ->group(kOutputFlags);
  command
      ->add_option("--out", flags->out,
                   "Run folder to write, with preferences.jsonl in it (default: runs/preferences-<time>)")
      ->type_name("<path>")
      ->group(kOutputFlags);
  command->add_flag("--resume", flags->resume, "Resume the run in --out")->group(kOutputFlags);
  command->add_flag("--json", flags->json, "Print the summary as one JSON object")->group(kOutputFlags);
  command->callback([flags, command] {
    require_each_path_once("make-preferences", "--judge", flags->judges);  // a vote counts once
    const bool writes = flags->samples > 0;
    require_used(*command, {{"--policy", writes, "with --samples 0, which has no policy write", "ask for --samples"},
                            {"--temperature", writes, "with --samples 0", "ask for --samples"},
                            {"--max-tokens", writes || !flags->judges.empty(), "with --samples 0 and no --judge",
                             "ask for --samples or a --judge"}});
    make_preferences(*flags);
  });
}

}  // namespace agon::cli
