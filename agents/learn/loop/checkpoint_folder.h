// agents/learn/loop/checkpoint_folder.h - writes and finds OUTPUT/checkpoint, so that one complete checkpoint exists
// even if the process is killed or the machine loses power. Each kind of training defines the contents itself:
// train.cc, sft.cc, offline.cc, critic/reward_model/training.cc.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "core/error.h"
#include "core/json.h"

namespace agon::agents {

// Calls fill with an empty folder, then replaces OUTPUT/checkpoint by that folder. fill must write its files with
// core/file.h, which syncs them. The log OUTPUT/train.jsonl, if it exists, is synced too. The old checkpoint is removed
// once the new one is synced in its place.
void write_checkpoint(const std::filesystem::path& output,
                      const std::function<void(const std::filesystem::path& folder)>& fill);
// Removes the checkpoint after the training. At every moment there is either a complete checkpoint or none.
void remove_checkpoint(const std::filesystem::path& output);
// Creates the folder that a training run writes, if needed. Throws Error on failure.
void make_output(const std::filesystem::path& output);
// Throws Error, naming the command, if a folder without a checkpoint holds anything that this training did not write. A
// missing folder is fine, as are files left by a training run that was killed before its first checkpoint.
void require_no_other(const std::filesystem::path& output, const std::string& command);
// Throws Error, naming both commands, if output holds a training run or a run of a subcommand other than `command`
// ("train"). A folder that does not name its command is accepted.
void require_of_command(const std::filesystem::path& output, const std::string& command);
// Keeps in a log (one JSON object per line) only lines with "step" below `step`: steps after the last checkpoint are
// repeated.
void cut_log(const std::filesystem::path& log, std::int64_t step);
// The object in state.json of a checkpoint's folder. Throws Error if the file is missing, damaged, or has no integer
// 'step' >= 0.
Json read_state(const std::filesystem::path& folder);
// The Error to throw for a state.json whose other keys are damaged.
Error damaged_checkpoint(const std::filesystem::path& folder);
// Throws Error, naming the command and the path `there`, unless the notes of a checkpoint or finished model have
// "training": fingerprint. If they have "settings", these are compared with `settings`, and the message names the keys
// that differ, with both values.
void require_own_training(const Json& notes, const std::string& fingerprint, const std::string& command,
                          const std::filesystem::path& there, const Json& settings = {});
// The folder of the last checkpoint, or an empty path. Completes an interrupted replacement, and removes files that a
// killed writer left in OUTPUT.
std::filesystem::path find_checkpoint(const std::filesystem::path& output);
// Removes the files of a training run that was refused before it recorded anything (database, settings, events) from
// OUTPUT. Does nothing if there is a checkpoint, an episode, a metric, a journal entry, or no run.
void remove_empty_run(const std::filesystem::path& output);

}  // namespace agon::agents
