#include "cli/task_name.h"

#include <map>
#include <vector>

#include "cli/flags/parse_whole.h"
#include "core/error.h"
#include "core/text.h"

namespace agon::cli {
namespace {

// The task of each id of the run, ids with and without the suite. Empty if `name` can only be a number.
std::map<std::string, std::uint64_t> ids_for(const record::RunReader& run, const std::string& name) {
  std::map<std::string, std::uint64_t> ids;
  if (parse_whole<std::uint64_t>(name) && !run.config().contains("file")) return ids;
  run.for_each(
      [&](const record::Episode& episode) {
        ids.emplace(episode.task_id, episode.task_index);
        ids.emplace(own_id(episode.task_id), episode.task_index);
      },
      record::RunReader::Detail::without_turns);
  return ids;
}

bool has_task(const std::map<std::string, std::uint64_t>& ids, std::uint64_t number) {
  for (const auto& [id, task] : ids)
    if (task == number) return true;
  return false;
}

std::optional<std::uint64_t> task_among(const std::map<std::string, std::uint64_t>& ids, const std::string& name) {
  const auto number = parse_whole<std::uint64_t>(name);
  const auto found = ids.find(name);
  if (number && (found == ids.end() || has_task(ids, *number))) return number;
  return found == ids.end() ? std::nullopt : std::optional(found->second);
}

[[noreturn]] void refuse(const std::map<std::string, std::uint64_t>& ids, const std::string& name,
                         const std::string& command) {
  std::vector<std::string> names;
  for (const auto& [id, task] : ids) names.push_back(id);
  const auto meant = nearest_name(name, names);
  throw Error("{}: the run has no task '{}'.{} Give a number or an id that `agon show RUN` lists.", command, name,
              meant ? " Did you mean '" + *meant + "'?" : "");
}

}  // namespace

std::string own_id(const std::string& task_id) { return task_id.substr(task_id.find('/') + 1); }

std::uint64_t find_task(const record::RunReader& run, const std::string& name, const std::string& command) {
  const auto ids = ids_for(run, name);
  if (const auto task = task_among(ids, name)) return *task;
  refuse(ids, name, command);
}

EpisodeName find_episode(const record::RunReader& run, const std::string& name) {
  const std::size_t colon = name.rfind(':');
  const auto ids = ids_for(run, name.substr(0, colon));
  const std::string sample = colon == std::string::npos ? "" : name.substr(colon + 1);
  const auto number = sample == "greedy" ? record::kGreedySample : parse_whole<int>(sample);
  if (number)
    if (const auto task = task_among(ids, name.substr(0, colon))) return {*task, number};
  if (const auto task = task_among(ids, name)) return {*task, {}};
  refuse(ids, number ? name.substr(0, colon) : name, "show");
}

}  // namespace agon::cli
