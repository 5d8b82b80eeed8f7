// cli/task_hashes.h - which tasks of a file a run plays, task by task (task_hashes.txt in its folder). A run can then
// be resumed when a task has failed and its line or its pictures have been mended.
#pragma once

#include <filesystem>

#include "core/json.h"
#include "env/suite.h"

namespace agon::cli {

// Before a run in `folder` is resumed with `config`, whose tasks are those of a file (else this does nothing): where
// the file has changed in tasks that the run has not played, the run's config takes the file as it is now. Throws Error
// that names the first task that was played and has changed since.
void accept_mended_tasks(const std::filesystem::path& folder, const Json& config, const env::SuiteInfo& info);

// Keeps the hashes of the file's tasks for the next resume. REQUIRES: the folder holds a run.
void keep_task_hashes(const std::filesystem::path& folder, const env::SuiteInfo& info);

}  // namespace agon::cli
