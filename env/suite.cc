#include "env/suite.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "env/kit/suite_task.h"
#include "env/suites/suites.h"
#include "env/wrappers/held_out.h"
#include "env/wrappers/role.h"
#include "env/wrappers/two_turn.h"

namespace agon::env {
namespace {

struct Entry {
  const char* name;
  SuiteDefinition (*define)(const SuiteOptions&);
};

// Sorted by name.
constexpr Entry kSuites[] = {
    {"arithmetic", arithmetic_suite}, {"charts", charts_suite},       {"darkroom", darkroom_suite},
    {"jsonl", jsonl_suite},           {"lookup", lookup_suite},       {"mat_coding", mat_coding_suite},
    {"phone", phone_suite},           {"questions", questions_suite}, {"shapes", shapes_suite},
};

const Entry& entry_of(const std::string& name) {
  const auto found =
      std::find_if(std::begin(kSuites), std::end(kSuites), [&](const Entry& entry) { return name == entry.name; });
  if (found == std::end(kSuites)) throw Error("{}", unknown_name_message("suite", name, suite_names()));
  return *found;
}

void check_level(int level, const SuiteInfo& info) {
  if (level < 0 || level > info.levels)
    throw Error("suite {}: no level {}. Levels are 1..{}; without one it is {}.", info.name, level, info.levels,
                info.default_level);
}

void check_baseline(const std::string& baseline, const SuiteInfo& info) {
  if (baseline.empty() || std::count(info.baselines.begin(), info.baselines.end(), baseline) > 0) return;
  if (info.baselines.empty())
    throw Error("suite {}: it has no tools, so no baseline '{}' either.", info.name, baseline);
  throw Error("suite {}: {}", info.name, unknown_name_message("baselines", baseline, info.baselines));
}

// `info` of a suite, changed as the options demand. Throws Error for options that do not fit it.
SuiteInfo info_of(SuiteInfo info, const SuiteOptions& options) {
  check_level(options.level, info);
  check_baseline(options.baseline, info);
  info = role_info(std::move(info), options.role);
  if (options.two_turn && options.role != kSolver)
    throw Error("suite {}: a {} answers once. Leave two turns out, or choose role solver.", info.name, options.role);
  return options.two_turn ? two_turn_info(std::move(info)) : info;
}

}  // namespace

std::vector<std::string> suite_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kSuites) names.emplace_back(entry.name);
  return names;
}

struct Suite::Resolved {
  std::string name;
  SuiteOptions options;
  std::shared_ptr<const SuiteDefinition> definition;
  SuiteInfo info;  // the definition's, changed as the options demand
  std::optional<ErrorKind> held_out;

  static std::shared_ptr<const Resolved> of(const std::string& name, std::shared_ptr<const SuiteDefinition> definition,
                                            const SuiteOptions& options) {
    SuiteInfo info = info_of(definition->info, options);
    auto resolved = std::make_shared<Resolved>(Resolved{name, options, std::move(definition), std::move(info), {}});
    if (options.level == 0) resolved->options.level = resolved->info.default_level;
    if (!options.held_out.empty()) resolved->held_out = held_out_kind(options.held_out);
    return resolved;
  }
};

Suite::Suite(const std::string& name, const SuiteOptions& options)
    : Suite(Resolved::of(name, std::make_shared<const SuiteDefinition>(entry_of(name).define(options)), options)) {}
Suite::Suite(std::shared_ptr<const Resolved> resolved) : resolved_(std::move(resolved)) {}

const std::string& Suite::name() const { return resolved_->name; }
const SuiteOptions& Suite::options() const { return resolved_->options; }
const SuiteInfo& Suite::info() const { return resolved_->info; }

std::unique_ptr<Env> Suite::make_env() const {
  std::unique_ptr<Env> env = resolved_->definition->make(options().level);
  if (resolved_->held_out) env = held_out_env(std::move(env), *resolved_->held_out);
  if (options().two_turn) return two_turn_env(std::move(env), options().reexamine);
  return role_env(std::move(env), options().role, options().reexamine);
}

std::string Suite::task_id(const ResetOptions& task) const {
  const auto& tasks = info().file_tasks;
  if (tasks && task.index < tasks->size()) return (*tasks)[task.index].id;
  const std::string id = env::task_id(name(), options().level, task);
  return options().role == kSolver ? id : fmt::format("{}/{}", id, options().role);
}

Suite Suite::with(const SuiteOptions& other) const {
  const bool same_definition =
      other.file == options().file && other.search == options().search && other.baseline == options().baseline;
  return same_definition ? Suite(Resolved::of(name(), resolved_->definition, other)) : Suite(name(), other);
}

Suite Suite::with_role(const std::string& role) const {
  SuiteOptions other = options();
  other.role = role;
  return with(other);
}

bool shows_pictures(const Suite& suite, Split split, std::uint64_t seed) {
  const StepResult first = suite.make_env()->reset({split, 0, seed});
  return std::ranges::any_of(first.observation.parts, [](const Part& part) { return !part.is_text(); });
}

bool shows_videos(const Suite& suite, Split split, std::uint64_t seed) {
  const StepResult first = suite.make_env()->reset({split, 0, seed});
  return std::ranges::any_of(first.observation.parts, [](const Part& part) { return part.is_video(); });
}

std::unique_ptr<Env> make_env(const std::string& name, const SuiteOptions& options) {
  return Suite(name, options).make_env();
}

}  // namespace agon::env
