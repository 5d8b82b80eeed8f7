// cli/task_hashes.h - which tasks of a file a run plays, task by task (task_hashes.txt in its folder). A run can then
// be resumed when a task has failed and its line or its pictures have been mended.
#pragma once

#include <filesystem>

#include "core/json.h"
#include "env/suite.h"

namespace agon::cli {

// Before a run in `folder` is resumed with `config`, whose tasks are those of a file (else this does nothing): where
// the file has changed, but in no task that the run has played, the run's config takes the file as it is now. Throws
// Error that names the first task that was played and has changed since, and what else differs in the configs: then
// nothing is changed.
void accept_mended_tasks(const std::filesystem::path& folder, const Json& config, const env::SuiteInfo& info);

// Keeps the hashes of the file's tasks for the next resume. REQUIRES: the folder holds a run.
void keep_task_hashes(const std::filesystem::path& folder, const env::SuiteInfo& info);

}  // namespace agon::cli
