// agents/learn/loop/checkpoint_folder.h - OUTPUT/checkpoint: at every moment one whole checkpoint exists, whenever the
// process is killed or the machine loses power.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "core/json.h"

namespace agon::agents {

// Calls fill with an empty folder, then puts that in the place of OUTPUT/checkpoint. fill writes its files by
// core/file.h. The log OUTPUT/train.jsonl, if there is one, is synced too. The checkpoint that was there goes when the
// new one is synced in its place.
void write_checkpoint(const std::filesystem::path& output,
                      const std::function<void(const std::filesystem::path& folder)>& fill);
// After the training: at every moment there is the whole checkpoint or none.
void remove_checkpoint(const std::filesystem::path& output);
// The folder that a training writes, made where it is not there. Throws Error where it cannot be.
void make_output(const std::filesystem::path& output);
// Throws Error, naming the command, where a folder without a checkpoint holds more than a training leaves that was
// killed before its first: it would write over it. Nothing where there is no such folder yet.
void require_no_other(const std::filesystem::path& output, const std::string& command);
// Throws Error, naming both, where output holds a training or a run of another subcommand than `command` ("train"). One
// that does not say whose it is passes.
void require_of_command(const std::filesystem::path& output, const std::string& command);
// Leaves in a log of one JSON object a line those whose "step" is below step: what was done after the last checkpoint
// comes again.
void cut_log(const std::filesystem::path& log, std::int64_t step);
// The object in state.json of a checkpoint's folder; throws Error for a file that is missing or damaged, or without a
// whole number 'step' from 0 on.
Json read_state(const std::filesystem::path& folder);
// Throws Error, naming the command and what stands there, unless notes (of a checkpoint or a finished model) say of
// themselves "training": fingerprint. Their "settings", where they have some, are compared with `settings`: the message
// then names the keys that differ, with both values.
void require_own_training(const Json& notes, const std::string& fingerprint, const std::string& command,
                          const std::filesystem::path& there, const Json& settings = {});
// The folder of the last checkpoint, or an empty path. Finishes an exchange that was cut off, and removes what a
// killed writer left in OUTPUT.
std::filesystem::path find_checkpoint(const std::filesystem::path& output);
// A training that was refused before it recorded anything is in nobody's way: removes its files (the database, its
// settings, its events) from OUTPUT. Nothing where there is a checkpoint, an episode, a metric, an entry of a journal,
// or no run.
void remove_empty_run(const std::filesystem::path& output);

}  // namespace agon::agents
