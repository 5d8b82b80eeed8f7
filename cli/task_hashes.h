// cli/task_hashes.h - hashes of the tasks of a run's task file, task by task (task_hashes.txt in its folder). With them
// a run can be resumed after the line or the pictures of a failed task were fixed.
#pragma once

#include <filesystem>

#include "core/json.h"
#include "env/suite.h"

namespace agon::cli {

// Called before a run in `folder` is resumed with `config`; does nothing unless its tasks come from a file. If the file
// has changed, but no played task has, the run's config is updated to the changed file. Throws Error, and changes
// nothing, if a played task has changed (naming the first), or if the configs differ in anything else.
void accept_mended_tasks(const std::filesystem::path& folder, const Json& config, const env::SuiteInfo& info);

// Stores the hashes of the file's tasks for the next resume. REQUIRES: the folder holds a run.
void keep_task_hashes(const std::filesystem::path& folder, const env::SuiteInfo& info);

}  // namespace agon::cli
