#include "cli/task_hashes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <vector>

#include "core/error.h"
#include "core/file.h"
#include "core/text.h"
#include "record/episode_store.h"
#include "record/run_database.h"
#include "record/run_reader.h"
#include "record/run_schema.h"

namespace agon::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = "task_hashes.txt";

// Nothing where the run was recorded without them, or they are damaged.
std::optional<std::vector<std::uint64_t>> kept_hashes(const fs::path& folder) {
  if (!fs::exists(folder / kFile)) return {};
  std::vector<std::uint64_t> hashes;
  for (const std::string& line : split_words(read_file((folder / kFile).string()))) {
    std::uint64_t hash = 0;
    const auto [end, fault] = std::from_chars(line.data(), line.data() + line.size(), hash, 16);
    if (fault != std::errc() || end != line.data() + line.size()) return {};
    hashes.push_back(hash);
  }
  return hashes;
}

std::vector<std::uint64_t> changed_tasks(const std::vector<std::uint64_t>& kept,
                                         const std::vector<env::FileTask>& tasks) {
  std::vector<std::uint64_t> changed;
  for (std::size_t i = 0; i < std::max(kept.size(), tasks.size()); ++i)
    if (i >= kept.size() || i >= tasks.size() || kept[i] != tasks[i].hash) changed.push_back(i);
  return changed;
}

// A task that was played must not change, neither for its episodes nor for an interrupted search.
void require_none_played(const record::RunReader& run, const std::vector<std::uint64_t>& kept, const fs::path& folder,
                         const std::vector<env::FileTask>& tasks) {
  std::set<std::uint64_t> played;
  run.for_each(
      [&](const record::Episode& episode) {
        if (episode.status == record::EpisodeStatus::done) played.insert(episode.task_index);
      },
      record::RunReader::Detail::without_turns);
  for (const std::uint64_t task : changed_tasks(kept, tasks)) {
    if (!played.contains(task) && run.journal(task).empty()) continue;
    if (task >= tasks.size())
      throw Error("{}: its task {} was played and is no longer in the file. Restore it, or choose another folder.",
                  folder.string(), task);
    const auto moved = std::ranges::find_if(
        tasks, [&](const env::FileTask& one) { return task < kept.size() && one.hash == kept[task]; });
    if (moved != tasks.end())
      throw Error("{}: task {} was played in {} as the file's task {}, and is another now. Restore the order.",
                  moved->place, moved->id, folder.string(), task);
    throw Error(
        "{}: task {} was played in {}, and its text or a picture of it has changed since. Restore it, or choose "
        "another folder.",
        tasks[task].place, tasks[task].id, folder.string());
  }
}

}  // namespace

void accept_mended_tasks(const fs::path& folder, const Json& config, const env::SuiteInfo& info) {
  if (!info.file_tasks || !config.contains("file") || !fs::exists(folder / record::kRunDatabase)) return;
  const auto kept = kept_hashes(folder);
  if (!kept) return;
  Json stored;
  {
    const auto run = record::RunReader::open(folder);
    require_none_played(*run, *kept, folder, *info.file_tasks);
    stored = run->config();
  }
  if (!stored.contains("file") || stored.at("file") == config.at("file")) return;
  stored["file"] = config.at("file");
  record::check_same_config(folder, stored, config);
  record::EpisodeStore::replace_config(folder, stored);
}

void keep_task_hashes(const fs::path& folder, const env::SuiteInfo& info) {
  if (!info.file_tasks) return;
  std::string lines;
  for (const env::FileTask& task : *info.file_tasks) lines += fmt::format("{:016x}\n", task.hash);
  write_file_atomically((folder / kFile).string(), lines);
}

}  // namespace agon::cli
