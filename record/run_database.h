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

// Held as long as the object lives; the kernel lets go of it however the process ends. Throws Error where another
// process holds it or nothing can be written.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder);

 private:
  FileLock lock_;
};

// A new run does not move in with files that are not of a run: it would write its config.json over theirs. Throws Error
// that names one.
void check_run_folder(const std::filesystem::path& folder);

// "samples = 8, not samples = 4; seed = 1, not seed = 2": the first keys in which two configs differ, nested keys
// included; what is recorded for provenance may differ. Empty: nowhere.
std::string config_differences(const Json& stored, const Json& asked);

// The subcommand that recorded the run in `folder`, "search", by its config.json. Empty: there is no run, or it does
// not say.
std::string recording_command(const std::filesystem::path& folder);

// Throws Error that names the command of the run in `folder`, where it is another than that of this process, and the
// first keys in which its config differs from another.
void check_same_config(const std::filesystem::path& folder, const Json& stored, const Json& config);

// Opens run.sqlite, of a new run or, with `resume`, of one with the same config, whose schema is brought up to date;
// writes config.json. One thread at a time may use it. REQUIRES: the folder's lock. Throws Error for a run that may not
// go on so, SQLite::Exception and Json::exception for what is damaged.
std::unique_ptr<SQLite::Database> open_run_database(const std::filesystem::path& folder, const Json& config,
                                                    bool resume);

// Whether nothing was recorded in run.sqlite: no episode, no metric, no entry of a journal, and nothing that
// is of no run. REQUIRES: it exists, and the folder's lock. Throws Error for what is damaged.
bool is_empty_run(const std::filesystem::path& folder);

// What a person is told of a damaged run.sqlite.
std::string damaged_run_message(const std::filesystem::path& folder);

}  // namespace agon::record
