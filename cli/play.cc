#include "cli/play.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <string_view>

#include "agents/model_fingerprint.h"
#include "cli/flags/usage.h"
#include "cli/interrupt.h"
#include "cli/provenance.h"
#include "cli/search_place.h"
#include "cli/task_hashes.h"
#include "core/error.h"
#include "core/progress.h"
#include "core/provenance.h"
#include "env/wrappers/role.h"
#include "env/wrappers/two_turn.h"
#include "record/episode_store.h"
#include "record/run_reader.h"
#include "record/run_schema.h"

namespace agon::cli {
namespace {

namespace fs = std::filesystem;

// Computes all figures from the recorded episodes.
PlayedRun read_back(const fs::path& folder) {
  const auto reader = record::RunReader::open(folder);
  PlayedRun run;
  reader->for_each(
      [&](const record::Episode& episode) {
        run.outcomes.push_back(agents::outcome_of(episode));
        if (run.failure.empty()) run.failure = episode.failure;
      },
      record::RunReader::Detail::without_images);
  run.summary = agents::summarize(reader->config(), run.outcomes, reader->seconds());
  return run;
}

// Adds up the cost of a run; throws Error once it reaches the limit.
class CostMeter {
 public:
  CostMeter(const std::optional<CostLimit>& limit, const RunPlace& place) : limit_(limit), go_on_(place.go_on) {
    if (!limit_) return;
    record::RunReader::open(place.folder)
        ->for_each([&](const record::Episode& episode) { usd_ += usd_of(episode); },
                   record::RunReader::Detail::without_images);
    check();
  }
  double usd_of(const record::Episode& episode) const {
    return limit_ ? agents::usd_of(agents::outcome_of(episode), limit_->price) : 0;
  }
  void count(double usd) {
    if (!limit_) return;
    const std::lock_guard lock(mutex_);
    usd_ += usd;
    check();
  }

 private:
  void check() const {
    if (usd_ >= limit_->most_usd)
      throw Error("run: the budget of {:g} US dollars is spent ({:.4f}). Rerun with {} and a larger --budget.",
                  limit_->most_usd, usd_, go_on_);
  }

  const std::optional<CostLimit>& limit_;
  const std::string go_on_;
  std::mutex mutex_;
  double usd_ = 0;
};

void play_and_record(const agents::RolloutOptions& options, agents::Policy& policy, record::EpisodeStore& store,
                     const std::string& label, CostMeter& meter) {
  const auto finished = store.finished();
  const auto all = static_cast<std::int64_t>(options.tasks) * (options.samples + 1);
  Progress progress(label, all, "episodes", static_cast<std::int64_t>(finished.size()));
  agents::play(
      policy, options, finished,
      [&](record::Episode episode) {
        const double usd = meter.usd_of(episode);
        store.record(std::move(episode));
        progress.add(1);
        meter.count(usd);
      },
      &interrupted());
  store.flush();
}

}  // namespace

Json run_config(const agents::RolloutOptions& options, const agents::PolicySource& policy) {
  const env::SuiteOptions& asked = options.suite.options();
  const env::SuiteInfo& info = options.suite.info();
  Json config{{"suite", options.suite.name()},
              {"split", env::to_string(options.split)},
              {"level", asked.level},
              {"tasks", options.tasks},
              {"samples", options.samples},
              {"seed", options.seed},
              {"temperature", options.sampling.temperature},
              {"top_p", options.sampling.top_p},
              {"max_tokens", options.sampling.max_tokens},
              {"instructions", info.instructions},
              {"policy", policy.name()},
              {"policy_files", policy.fingerprint()}};
  config[kProvenance]["policy"] = policy_record(policy);
  if (!asked.file.empty()) {
    config["file"] = fmt::format("{:016x}", info.file_hash);
    config[kProvenance]["file"] = {{"path", fs::absolute(asked.file).lexically_normal().string()},
                                   {"hash", config["file"]}};  // of the file and its pictures
  }
  if (asked.role != env::kSolver) config["role"] = asked.role;
  add_search_place(asked.search, config);
  if (!asked.baseline.empty()) config["baseline"] = asked.baseline;
  if (asked.two_turn) {
    config["two_turn"] = true;
    config["reexamine"] = asked.reexamine.empty() ? env::kReexamine : asked.reexamine;
  } else if (!asked.reexamine.empty()) {
    config["reexamine"] = asked.reexamine;
  }
  return config;
}

std::optional<CostLimit> parse_cost_limit(const std::string& text, const agents::PolicySource& policy) {
  if (text.empty()) return std::nullopt;
  constexpr std::string_view kUnit = "usd=";
  double most = 0;
  const bool named = text.starts_with(kUnit);
  const char* const end = text.data() + text.size();
  const auto [last, fault] = std::from_chars(text.data() + (named ? kUnit.size() : 0), end, most);
  if (!named || fault != std::errc() || last != end || !(most > 0))
    throw WrongUsage("run: --budget is '{}'. Write the most that the run may cost in US dollars, as in usd=5.", text);
  if (!policy.endpoint || !policy.endpoint->price)
    throw WrongUsage(
        "run: --budget does nothing with a policy without a price. Give --policy a YAML file with 'price: {{input: "
        "..., "
        "output: ...}}', US dollars a million tokens.");
  return CostLimit{*policy.endpoint->price, most};
}

fs::path default_folder(const std::string& name) {
  const fs::path runs = "runs";
  const std::string stem = fmt::format("{}-{:%Y%m%d-%H%M%S}", name, fmt::localtime(std::time(nullptr)));
  std::error_code error;  // the recorder of the run reports it
  fs::create_directories(runs, error);
  fs::path folder = runs / stem;
  for (int number = 2; !fs::create_directory(folder, error) && !error; ++number)
    folder = runs / fmt::format("{}-{}", stem, number);
  return folder;
}

RunPlace run_place(const std::string& command, const std::string& suite, const std::string& out, bool resume) {
  if (resume && out.empty()) throw WrongUsage("{0}: --resume needs --out, the folder of the {0} to resume.", command);
  const fs::path folder = out.empty() ? default_folder(suite) : fs::path(out);
  if (resume && !fs::exists(folder / record::kRunDatabase))
    std::fputs(fmt::format("{}: nothing to resume in {}; starting anew there\n", command, folder.string()).c_str(),
               stderr);
  return {folder, resume, fmt::format("--out {} --resume", folder.string())};
}

PlayedRun play_into(const RunPlace& place, agents::Policy& policy, const agents::RolloutOptions& options,
                    const Json& config, const std::string& label,
                    const std::function<bool(const record::RunReader&, agents::RunSummary&)>& extend,
                    const std::optional<CostLimit>& limit) {
  const env::SuiteInfo& info = options.suite.info();
  if (place.resume) accept_mended_tasks(place.folder, config, info);
  const auto store = record::EpisodeStore::create(place.folder, config, place.resume);
  keep_task_hashes(place.folder, info);
  watch_interrupts();
  CostMeter meter(limit, place);
  play_and_record(options, policy, *store, label, meter);
  const auto throw_stopped = [&] {
    throw Interrupted(fmt::format("{}: stopped. Rerun the same command with {} to resume.", label, place.go_on));
  };
  if (interrupted()) throw_stopped();
  PlayedRun run = read_back(place.folder);
  if (extend && !extend(*record::RunReader::open(place.folder), run.summary)) throw_stopped();
  store->finish(to_json(run.summary));
  return run;
}

void require_none_failed(const PlayedRun& run, const RunPlace& place, const std::string& command) {
  if (run.summary.failed == 0) return;
  throw Error(
      "{}: {} of {} episodes failed and are excluded from all figures. First error: {}. Fix it and rerun with `{}`; to "
      "change the tasks, use a new folder.",
      command, run.summary.failed, run.outcomes.size(), run.failure.substr(0, run.failure.find_last_not_of('.') + 1),
      place.go_on);
}

}  // namespace agon::cli
