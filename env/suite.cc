#include "env/suite.h"

#include <algorithm>
#include <iterator>
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
  SuiteInfo (*info)(const SuiteOptions&);
  std::unique_ptr<Env> (*make)(const SuiteOptions&);
};

// By name.
constexpr Entry kSuites[] = {
    {"charts", charts_info, make_charts},
    {"darkroom", darkroom_info, make_darkroom},
    {"jsonl", jsonl_info, make_jsonl},
    {"lookup", lookup_info, make_lookup},
    {"mat_coding", mat_coding_info, make_mat_coding},
    {"phone", phone_info, make_phone},
    {"questions", questions_info, make_questions},
    {"shapes", shapes_info, make_shapes},
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

}  // namespace

std::vector<std::string> suite_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kSuites) names.emplace_back(entry.name);
  return names;
}

SuiteInfo suite_info(const std::string& name, const SuiteOptions& options) {
  SuiteInfo info = entry_of(name).info(options);
  check_level(options.level, info);
  check_baseline(options.baseline, info);
  info = role_info(std::move(info), options.role);
  if (options.two_turn && options.role != kSolver)
    throw Error("suite {}: a {} answers once. Leave two turns out, or choose role solver.", name, options.role);
  return options.two_turn ? two_turn_info(std::move(info)) : info;
}

std::unique_ptr<Env> make_env(const std::string& name, const SuiteOptions& options) {
  SuiteOptions resolved = options;
  const SuiteInfo info = suite_info(name, options);
  if (resolved.level == 0) resolved.level = info.default_level;
  std::unique_ptr<Env> env = entry_of(name).make(resolved);
  if (!options.held_out.empty()) env = held_out_env(std::move(env), options.held_out);
  if (options.two_turn) return two_turn_env(std::move(env), options.reexamine);
  return role_env(std::move(env), options.role, options.reexamine);
}

std::string task_id_of(const std::string& name, const SuiteOptions& options, const ResetOptions& task) try {
  const SuiteInfo info = suite_info(name, options);
  if (info.file_tasks && task.index < info.file_tasks->size()) return (*info.file_tasks)[task.index].id;
  const std::string id = task_id(name, options.level != 0 ? options.level : info.default_level, task);
  return options.role == kSolver ? id : fmt::format("{}/{}", id, options.role);
} catch (const Error&) {  // a suite of somebody's own, or a file that is gone
  return fmt::format("{}/{}/{}", name, to_string(task.split), task.index);
}

}  // namespace agon::env
