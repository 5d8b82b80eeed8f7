// record/run_database.h - the folder and database of a run: locks the folder; creates, opens and upgrades the database.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/file_lock.h"
#include "core/json.h"

namespace SQLite {  // NOLINT(readability-identifier-naming): the library's
class Database;
}

namespace agon::record {

// The lock is held as long as the object lives; the kernel releases it however the process ends. Throws Error if
// another process holds the lock or the folder is not writable.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder);

 private:
  FileLock lock_;
};

// Throws Error if the folder holds a file that does not belong to a run, naming one: a new run would overwrite its
// config.json.
void check_run_folder(const std::filesystem::path& folder);

// "samples = 8, not samples = 4; seed = 1, not seed = 2": the first keys in which two configs differ, nested keys
// included. Provenance may differ. Empty: no difference.
std::string config_differences(const Json& stored, const Json& asked);

// The subcommand that recorded the run in `folder`, such as "search", from its config.json. Empty: no run, or its
// config does not say.
std::string recording_command(const std::filesystem::path& folder);

// Throws Error unless `stored`, the config of the run in `folder`, equals `config`. The message names the first keys
// that differ, and the command that recorded the run if this process runs another one.
void check_same_config(const std::filesystem::path& folder, const Json& stored, const Json& config);

// Opens run.sqlite and writes config.json, for a new run or, with `resume`, for one with the same config, whose schema
// it upgrades. One thread at a time may use the database. REQUIRES: the folder's lock. Throws Error for a run that
// cannot be resumed this way, SQLite::Exception and Json::exception for damaged data.
std::unique_ptr<SQLite::Database> open_run_database(const std::filesystem::path& folder, const Json& config,
                                                    bool resume);

// Whether run.sqlite holds nothing: no episode, no metric, no journal entry, and no table of anything else. REQUIRES:
// it exists, and the folder's lock. Throws Error for a damaged file.
bool is_empty_run(const std::filesystem::path& folder);

// The message for a damaged run.sqlite.
std::string damaged_run_message(const std::filesystem::path& folder);

}  // namespace agon::record
