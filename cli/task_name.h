// cli/task_name.h - finds tasks and episodes of a run by the names that users give: a number, or the id of a task file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "record/run_reader.h"

namespace agon::cli {

// "mytask" from "jsonl/mytask": the id in the task file.
std::string own_id(const std::string& task_id);

// The number of the task that `name` means: its number in the run, or its id with or without the suite ("jsonl/mytask",
// "mytask"). If a number is also an id, it means the number. Throws Error, starting with the command, for an unknown
// id, with the nearest one.
std::uint64_t find_task(const record::RunReader& run, const std::string& name, const std::string& command);

struct EpisodeName {
  std::uint64_t task = 0;
  std::optional<int> sample;  // nothing: the greedy sample if the run has it, else sample 0
};
// TASK, TASK:SAMPLE or TASK:greedy, as in "17", "mytask:3", "17:greedy". Throws Error as find_task does.
EpisodeName find_episode(const record::RunReader& run, const std::string& name);

}  // namespace agon::cli
