// cli/task_name.h - tasks and episodes of a run as people name them: by number, or by the id of a task file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "record/run_reader.h"

namespace agon::cli {

// "mytask" of "jsonl/mytask", as the task file has it.
std::string own_id(const std::string& task_id);

// The number of the task that `name` means: its number in the run, or its id with or without the suite ("jsonl/mytask",
// "mytask"). A number that is both is the number. Throws Error, which begins with the command, for an id that the run
// has not, with the nearest one.
std::uint64_t find_task(const record::RunReader& run, const std::string& name, const std::string& command);

struct EpisodeName {
  std::uint64_t task = 0;
  std::optional<int> sample;  // none: the greedy one if the run has it, else sample 0
};
// TASK, TASK:SAMPLE or TASK:greedy, as in "17", "mytask:3", "17:greedy". Throws Error as find_task does.
EpisodeName find_episode(const record::RunReader& run, const std::string& name);

}  // namespace agon::cli
