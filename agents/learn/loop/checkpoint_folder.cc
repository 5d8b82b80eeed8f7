#include "agents/learn/loop/checkpoint_folder.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "agents/learn/data/response_scorer.h"
#include "core/error.h"
#include "core/file.h"
#include "core/json_parse.h"
#include "core/text.h"
#include "record/run_database.h"
#include "record/run_schema.h"

namespace agon::agents {

namespace fs = std::filesystem;

namespace {

constexpr const char* kLogFile = "train.jsonl";  // cut at the checkpoint's step when the training resumes

// Syncs the names in all folders; the files were synced when they were written (core/file.h).
void sync_tree(const fs::path& folder) {
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_directory()) sync_file(entry.path());
  sync_file(folder);
}

// The subcommand that wrote the training or run in output; empty if there is none or it is not recorded.
std::string command_of(const fs::path& output) {
  if (fs::exists(output / record::kRunDatabase)) return record::recording_command(output);
  for (const char* file : {kRewardModelFile, kJudgeFile})
    if (fs::exists(output / file)) return "train-rm";
  const fs::path state = output / "checkpoint" / "state.json";
  const Json notes = fs::exists(state) ? json_or_discarded(read_file(state.string())) : Json();
  const Json command = notes.is_object() ? notes.value("command", Json()) : Json();
  return command.is_string() ? command.get<std::string>() : std::string();
}

}  // namespace

void write_checkpoint(const fs::path& output, const std::function<void(const fs::path&)>& fill) {
  const fs::path folder = output / "checkpoint", fresh = output / "checkpoint.new", old = output / "checkpoint.old";
  fs::remove_all(fresh);
  make_folders(fresh);
  fill(fresh);
  sync_tree(fresh);
  sync_file(output / kLogFile);
  fs::remove_all(old);
  if (fs::exists(folder)) rename_durably(folder, old);
  rename_durably(fresh, folder);
  fs::remove_all(old);  // only after the new one is synced in its place
}

void remove_checkpoint(const fs::path& output) {
  const fs::path folder = output / "checkpoint", fresh = output / "checkpoint.new";
  fs::remove_all(output / "checkpoint.old");  // first: find_checkpoint would restore it
  fs::remove_all(fresh);
  if (!fs::exists(folder)) return;
  rename_durably(folder, fresh);
  fs::remove_all(fresh);
}

void make_output(const fs::path& output) {
  try {
    make_folders(output);
  } catch (const Error& error) {
    throw Error("{} Choose another 'output'.", error.what());
  }
}

void require_no_other(const fs::path& output, const std::string& command) {
  if (!fs::is_directory(output) || fs::exists(output / "checkpoint") || fs::exists(output / "checkpoint.old")) return;
  constexpr std::string_view kOwn[] = {"checkpoint.new", "lock", kLogFile};
  for (const auto& entry : fs::directory_iterator(output))
    if (const std::string name = entry.path().filename().string(); std::ranges::find(kOwn, name) == std::end(kOwn))
      throw Error("{}: {} holds a {} that this training run did not write. Choose another 'output', or remove it.",
                  command, output.string(), name);
}

void require_of_command(const fs::path& output, const std::string& command) {
  const std::string other = command_of(output);
  if (other.empty() || other == command) return;
  throw Error("{}: {} holds a {} of agon {}. Choose another 'output'.", command, output.string(),
              other.starts_with("train") ? "training run" : "run", other);
}

void cut_log(const fs::path& log, std::int64_t step) {
  if (!fs::exists(log)) return;
  std::string kept;
  for (const std::string& line : split(read_file(log.string()), "\n")) {
    const Json figures = Json::parse(line, nullptr, false);  // the last line may be half a line
    if (figures.is_object() && figures.value("step", step) < step) kept += line + '\n';
  }
  write_file_atomically(log.string(), kept);
}

Json read_state(const fs::path& folder) {
  const fs::path file = folder / "state.json";
  Json state = json_or_discarded(read_file(file.string()));
  const bool whole = state.is_object() && state.contains("step") && state["step"].is_number_integer();
  if (!whole || state["step"].get<std::int64_t>() < 0) throw damaged_checkpoint(folder);
  return state;
}

Error damaged_checkpoint(const fs::path& folder) {
  return Error("{}: the checkpoint is damaged. Remove {} to begin again.", (folder / "state.json").string(),
               folder.string());
}

void require_own_training(const Json& notes, const std::string& fingerprint, const std::string& command,
                          const fs::path& there, const Json& settings) {
  if (notes.is_object() && notes.value("training", Json()) == Json(fingerprint)) return;
  const Json stored = notes.is_object() ? notes.value("settings", Json()) : Json();
  const std::string differences =
      stored.is_object() && settings.is_object() ? record::config_differences(stored, settings) : std::string();
  if (!differences.empty())
    throw Error("{}: {} is of another training run: it has {}. Give its own settings, or choose another 'output'.",
                command, there.string(), differences);
  throw Error(
      "{}: {} is of another training run: its data or settings differ. Remove it to begin again, or choose another "
      "'output'.",
      command, there.string());
}

fs::path find_checkpoint(const fs::path& output) {
  const fs::path folder = output / "checkpoint", old = output / "checkpoint.old";
  remove_left_over(output);
  if (!fs::exists(folder) && fs::exists(old)) rename_durably(old, folder);
  return fs::exists(folder) ? folder : fs::path();
}

void remove_empty_run(const fs::path& output) {
  if (!fs::exists(output / record::kRunDatabase) || !find_checkpoint(output).empty()) return;
  const record::FolderLock lock(output);
  if (!record::is_empty_run(output)) return;
  std::vector<fs::path> files{output / "config.json"};
  for (const char* end : {"-wal", "-shm"}) files.push_back(output / (std::string(record::kRunDatabase) + end));
  for (const auto& entry : fs::directory_iterator(output))
    if (entry.path().filename().string().starts_with("events.out.tfevents.")) files.push_back(entry.path());
  files.push_back(output / record::kRunDatabase);  // last: while it exists, a later call resumes
  for (const fs::path& file : files) fs::remove(file);
}

}  // namespace agon::agents
