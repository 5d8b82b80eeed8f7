#include "record/run_database.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "core/error.h"
#include "core/file.h"
#include "core/json_parse.h"
#include "core/provenance.h"
#include "core/text.h"
#include "record/run_schema.h"

namespace agon::record {
namespace {

namespace fs = std::filesystem;

std::string value_or_absence(const Json& object, const std::string& key, const std::string& name) {
  if (!object.contains(key)) return "no " + name;
  constexpr std::size_t kMost = 120;
  const std::string value = to_text(object.at(key));
  return name + " = " + (value.size() > kMost ? valid_utf8(value.substr(0, kMost)) + "..." : value);
}

void add_differences(const Json& stored, const Json& asked, const std::string& prefix, std::vector<std::string>& all) {
  Json both = stored;
  both.update(asked);
  for (const auto& [key, ignored] : both.items()) {
    const std::string name = prefix + key;
    const Json *was = stored.contains(key) ? &stored.at(key) : nullptr,
               *is = asked.contains(key) ? &asked.at(key) : nullptr;
    if (was && is && was->is_object() && is->is_object())
      add_differences(*was, *is, name + ".", all);
    else if (!was || !is || *was != *is)
      all.push_back(fmt::format("{}, not {}", value_or_absence(stored, key, name), value_or_absence(asked, key, name)));
  }
}

std::string listed(const std::vector<std::string>& differences) {
  constexpr std::size_t kMost = 4;
  const std::size_t told = std::min(kMost, differences.size());
  const std::string text =
      fmt::format("{}", fmt::join(differences.begin(), differences.begin() + static_cast<std::ptrdiff_t>(told), "; "));
  return told == differences.size() ? text : fmt::format("{}; and {} more", text, differences.size() - told);
}

// ", of agon search", where this process is another command.
std::string of_another_command(const Json& stored) {
  const std::string there = provenance_subcommand(stored.value(kProvenance, Json()));
  return there.empty() || there == provenance_subcommand(provenance()) ? "" : ", of agon " + there;
}

void check_same_run(SQLite::Database& database, const fs::path& folder, const Json& config, bool resume) {
  check_run_schema(folder / kRunDatabase, database.execAndGet("PRAGMA application_id").getInt(),
                   database.execAndGet("PRAGMA user_version").getInt());
  if (!resume)
    throw Error(
        "{}: holds a run already{}. Continue it with --resume, or choose another folder (--out; of a training run, "
        "output).",
        folder.string(), of_another_command(json_of(database.execAndGet("SELECT config FROM run").getString())));
  if (database.execAndGet("PRAGMA quick_check(1)").getString() != "ok") throw Error("{}", damaged_run_message(folder));
  check_same_config(folder, json_of(database.execAndGet("SELECT config FROM run").getString()), config);
}

void create_schema(SQLite::Database& database, const Json& config) {
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  database.exec(kRunSchema);
  database.exec(kTrainingSchema);
  database.exec(kStepKeySchema);
  database.exec(kSearchSchema);
  database.exec(fmt::format("PRAGMA application_id = {}", kRunApplicationId));
  database.exec(fmt::format("PRAGMA user_version = {}", kRunSchemaVersion));
  SQLite::Statement insert(database, "INSERT INTO run (id, config) VALUES (1, ?)");
  insert.bind(1, config.dump());
  insert.exec();
  transaction.commit();
}

void upgrade_schema(SQLite::Database& database) {
  const int version = database.execAndGet("PRAGMA user_version").getInt();
  if (version == kRunSchemaVersion) return;
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  if (version < 3) database.exec(kTrainingSchema);
  if (version < 4) database.exec(kStepKeySchema);
  database.exec(kSearchSchema);
  database.exec(fmt::format("PRAGMA user_version = {}", kRunSchemaVersion));
  transaction.commit();
}

}  // namespace

FolderLock::FolderLock(const fs::path& folder) {
  const std::string path = (folder / "lock").string();
  lock_ = FileLock(Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)));
  if (!lock_)
    throw Error("{}: cannot be written: {}. Choose another folder (--out; of a training run, output).", path,
                std::strerror(errno));
  if (lock_.try_lock()) return;
  if (errno == EWOULDBLOCK)
    throw Error(
        "{}: another process is recording a run here. Wait until it ends, or choose another folder (--out; of a "
        "training, output).",
        folder.string());
  throw Error("{}: cannot be locked: {}.", path, std::strerror(errno));
}

void check_run_folder(const fs::path& folder) {
  if (fs::exists(folder / kRunDatabase)) return;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().filename() != "lock")
      throw Error("{}: holds other files ({}). Choose an empty or a new folder (--out; of a training run, output).",
                  folder.string(), entry.path().filename().string());
}

std::string config_differences(const Json& stored, const Json& asked) {
  std::vector<std::string> differences;
  add_differences(without_provenance(stored), without_provenance(asked), {}, differences);
  return listed(differences);
}

std::string recording_command(const fs::path& folder) {
  const fs::path file = folder / "config.json";
  if (!fs::exists(folder / kRunDatabase) || !fs::exists(file)) return {};
  const Json config = json_or_discarded(read_file(file.string()));
  return config.is_object() ? provenance_subcommand(config.value(kProvenance, Json())) : std::string();
}

void check_same_config(const fs::path& folder, const Json& stored, const Json& config) {
  const std::string differences = config_differences(stored, config);
  if (differences.empty()) return;
  const std::string other = of_another_command(stored);
  throw Error(
      "{}: the run there{} has {}. Resume it with its own command and settings (config.json), or choose another "
      "folder.",
      folder.string(), other.empty() ? "" : other + ",", differences);
}

std::unique_ptr<SQLite::Database> open_run_database(const fs::path& folder, const Json& config, bool resume) {
  const fs::path path = folder / kRunDatabase;
  // One thread at a time uses the connection, so SQLite need not lock it.
  auto opened = std::make_unique<SQLite::Database>(
      path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE | SQLite::OPEN_NOMUTEX, 5000);
  SQLite::Database& database = *opened;
  const bool fresh = database.execAndGet("SELECT count(*) FROM sqlite_master").getInt() == 0;
  if (!fresh) check_same_run(database, folder, config, resume);
  database.exec(
      "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = OFF; "
      "PRAGMA wal_autocheckpoint = 2000");
  Json recorded = config;  // for a resumed run: the config recorded at its start
  if (fresh)
    recorded[kProvenance] = provenance(config.value(kProvenance, Json::object()));
  else
    recorded = json_of(database.execAndGet("SELECT config FROM run").getString());
  if (recorded.contains(kProvenance) && recorded[kProvenance].empty()) recorded.erase(kProvenance);
  write_file_atomically((folder / "config.json").string(), recorded.dump(2) + "\n");
  if (fresh)
    create_schema(database, recorded);  // last: from here on the folder holds a run
  else
    upgrade_schema(database);
  return opened;
}

bool is_empty_run(const fs::path& folder) try {
  SQLite::Database database((folder / kRunDatabase).string(), SQLite::OPEN_READWRITE, 5000);
  const bool others = database.execAndGet("SELECT count(*) FROM sqlite_master").getInt() > 0;
  if (others && !database.tableExists("run")) return false;  // a database of another program
  for (const char* table : {"episodes", "metrics", "journal"}) {
    if (!database.tableExists(table)) continue;  // killed before its schema was made, or of an older version
    SQLite::Statement any(database, fmt::format("SELECT 1 FROM {} LIMIT 1", table));
    if (any.executeStep()) return false;
  }
  return true;
} catch (const SQLite::Exception& exception) {
  throw Error("{} {}", damaged_run_message(folder), exception.what());
}

std::string damaged_run_message(const fs::path& folder) {
  return fmt::format("{}: {} is damaged. Restore it from a copy, or start again in another folder.", folder.string(),
                     kRunDatabase);
}

}  // namespace agon::record
