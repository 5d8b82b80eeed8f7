#include "record/run_reader.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <cmath>
#include <cstring>
#include <map>
#include <optional>

#include "core/error.h"
#include "core/json_parse.h"
#include "core/pictures/video_json.h"
#include "record/run_schema.h"

namespace agon::record {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kCachedImages = 64;  // the samples of a task show the same pictures

// {}: the column `step`, or NULL for a run older than training.
constexpr const char* kSelectEpisodes =
    "SELECT id, task_index, sample, status, failure, reward, success, truncated, answer, score, seconds, task_id, "
    "level, kind, prompt, gold, {} FROM episodes JOIN tasks USING (task_index)";
constexpr const char* kSelectTurns =
    "SELECT observation, text, token_ids, logprobs, finish_reason, prompt_tokens, reward, reward_components, info "
    "FROM turns WHERE episode_id = ? ORDER BY turn";
constexpr int kFirstSchemaWithJournal = 5;
constexpr const char* kSelectCredit =
    "SELECT turn, token_bytes, advantage, weight, kl FROM token_credit WHERE episode_id = ? ORDER BY turn";

template <typename T>
std::vector<T> read_blob(const SQLite::Column& column) {
  const auto bytes = static_cast<std::size_t>(column.getBytes());
  if (bytes % sizeof(T) != 0) throw Error("a blob has {} bytes, not a multiple of {}", bytes, sizeof(T));
  std::vector<T> values(bytes / sizeof(T));
  if (bytes > 0) std::memcpy(values.data(), column.getBlob(), bytes);
  return values;
}

bool is_empty_or_absent(const fs::path& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  return error || size == 0;
}

// A WAL database needs its -shm file next to it, which a read-only medium refuses. Without a -wal file nothing can
// change there, so SQLite may read the file as it is.
SQLite::Database open_read_only(const fs::path& path) {
  try {
    SQLite::Database database(path.string(), SQLite::OPEN_READONLY, 5000);
    database.execAndGet("SELECT count(*) FROM sqlite_master");
    return database;
  } catch (const SQLite::Exception&) {
    if (!is_empty_or_absent(path.string() + "-wal")) throw;
  }
  std::string escaped;
  for (const char c : fs::absolute(path).string())
    escaped += c == '%' ? "%25" : c == '?' ? "%3f" : c == '#' ? "%23" : std::string(1, c);
  return SQLite::Database("file:" + escaped + "?immutable=1", SQLite::OPEN_READONLY | SQLite::OPEN_URI);
}

SQLite::Database open_run(const fs::path& path) {
  SQLite::Database database = open_read_only(path);
  check_run_schema(path, database.execAndGet("PRAGMA application_id").getInt(),
                   database.execAndGet("PRAGMA user_version").getInt());
  return database;
}

// A column's JSON; invalid JSON means a damaged file.
Json stored_json(const std::string& text) {
  try {
    return json_of(text);
  } catch (const Error& error) {
    throw std::runtime_error(error.what());
  }
}

// Runs `read`; any fault of the file becomes an Error that names the file.
template <typename Read>
auto guarded(const fs::path& path, const Read& read) {
  try {
    return read();
  } catch (const Error& error) {
    throw Error("{}: {}.", path.string(), error.what());
  } catch (const std::exception& exception) {
    throw Error("{}: the run cannot be read: {}. Is it damaged? Restore it from a copy.", path.string(),
                exception.what());
  }
}

class SqliteReader : public RunReader {
 public:
  explicit SqliteReader(const fs::path& path) : path_(path), database_(open_run(path)) {
    const int version = database_.execAndGet("PRAGMA user_version").getInt();
    has_training_ = version > kOldestRunSchemaVersion;
    has_journal_ = version >= kFirstSchemaWithJournal;
    if (has_training_) select_credit_.emplace(database_, kSelectCredit);
  }

  Json config() const override {
    return guarded(path_, [&] { return stored_json(database_.execAndGet("SELECT config FROM run").getString()); });
  }

  Json summary() const override {
    return guarded(path_, [&] {
      const SQLite::Column column = database_.execAndGet("SELECT summary FROM run");
      return column.isNull() ? Json() : stored_json(column.getString());
    });
  }

  double seconds() const override {
    return guarded(path_, [&] { return database_.execAndGet("SELECT seconds FROM run").getDouble(); });
  }

  void for_each(const std::function<void(const Episode&)>& visit, Detail detail) const override {
    SQLite::Statement select = guarded(path_, [&] {
      return select_episodes(has_training_ ? " ORDER BY task_index, sample, step" : " ORDER BY task_index, sample");
    });
    while (guarded(path_, [&] { return select.executeStep(); }))
      visit(guarded(path_, [&] { return read_episode(select, detail); }));  // what `visit` throws passes as it is
  }

  Episode episode(std::uint64_t task_index, int sample) const override {
    return guarded(path_, [&] {
      SQLite::Statement select =
          select_episodes(has_training_ ? " WHERE task_index = ? AND sample = ? ORDER BY step DESC LIMIT 1"
                                        : " WHERE task_index = ? AND sample = ?");
      select.bind(1, static_cast<std::int64_t>(task_index));
      select.bind(2, sample);
      if (!select.executeStep())
        throw Error("no episode of task {}, sample {}. `agon show RUN` lists the episodes", task_index, sample);
      return read_episode(select, Detail::whole);
    });
  }

  std::map<std::string, Curve> metrics() const override {
    std::map<std::string, Curve> curves;
    if (!has_training_) return curves;
    return guarded(path_, [&] {
      SQLite::Statement select(database_, "SELECT step, name, value FROM metrics ORDER BY step, name");
      while (select.executeStep()) {
        const double value = select.isColumnNull(2) ? std::nan("") : select.getColumn(2).getDouble();
        curves[select.getColumn(1).getString()].emplace_back(select.getColumn(0).getInt64(), value);
      }
      return curves;
    });
  }

  std::vector<JournalEntry> journal(std::uint64_t task_index) const override {
    std::vector<JournalEntry> entries;
    if (!has_journal_) return entries;
    return guarded(path_, [&] {
      SQLite::Statement select(database_,
                               "SELECT number, kind, body FROM journal WHERE task_index = ? ORDER BY number");
      select.bind(1, static_cast<std::int64_t>(task_index));
      while (select.executeStep()) {
        const std::int64_t number = select.getColumn(0).getInt64();
        if (number != std::ssize(entries)) throw Error("the journal of task {} lacks an entry", task_index);
        entries.push_back(entry_of(task_index, number, select.getColumn(1).getString(), select.getColumn(2)));
      }
      return entries;
    });
  }

  const fs::path& path() const override { return path_; }

  std::vector<JournalEntry> journal_ends(const std::string& kind,
                                         const std::function<void(const Error&)>& damaged) const override {
    std::vector<JournalEntry> entries;
    if (!has_journal_) return entries;
    return guarded(path_, [&] {
      SQLite::Statement select(
          database_,
          "SELECT task_index, number, body FROM journal JOIN (SELECT task_index AS task, "
          "max(number) AS last FROM journal GROUP BY task_index) ON task_index = task AND number = "
          "last WHERE kind = ? ORDER BY task_index");
      select.bind(1, kind);
      while (select.executeStep()) try {
          entries.push_back(entry_of(static_cast<std::uint64_t>(select.getColumn(0).getInt64()),
                                     select.getColumn(1).getInt64(), kind, select.getColumn(2)));
        } catch (const Error& error) {
          if (!damaged) throw;
          damaged(error);
        }
      return entries;
    });
  }

  Image image(const std::string& hash) const override {
    return guarded(path_, [&] { return read_image(hash); });
  }

 private:
  SQLite::Statement select_episodes(const char* which) const {
    return SQLite::Statement(database_, fmt::format(kSelectEpisodes, has_training_ ? "step" : "NULL") + which);
  }

  static JournalEntry entry_of(std::uint64_t task, std::int64_t number, const std::string& kind,
                               const SQLite::Column& body) {
    Json json = json_or_discarded(body.getString());
    if (json.is_discarded())
      throw Error("entry {} ({}) of the journal of task {} is damaged: it is not JSON. Restore the run from a copy",
                  number, kind, task);
    return {task, number, kind, std::move(json), {}};
  }

  Episode read_episode(SQLite::Statement& row, Detail detail) const {
    Episode episode;
    episode.task_index = static_cast<std::uint64_t>(row.getColumn(1).getInt64());
    episode.sample = row.getColumn(2).getInt();
    episode.status = row.getColumn(3).getString() == "done" ? EpisodeStatus::done : EpisodeStatus::failed;
    episode.failure = row.getColumn(4).getString();
    episode.reward = row.getColumn(5).getDouble();
    episode.success = row.getColumn(6).getInt() != 0;
    episode.truncated = row.getColumn(7).getInt() != 0;
    if (!row.isColumnNull(8)) episode.answer = row.getColumn(8).getString();
    if (!row.isColumnNull(9)) episode.score = row.getColumn(9).getDouble();
    episode.seconds = row.getColumn(10).getDouble();
    episode.task_id = row.getColumn(11).getString();
    episode.level = row.getColumn(12).getInt();
    episode.kind = row.getColumn(13).getString();
    episode.prompt = row.getColumn(14).getString();
    episode.gold = stored_json(row.getColumn(15).getString());
    if (!row.isColumnNull(16)) episode.train_step = row.getColumn(16).getInt64();
    if (detail != Detail::without_turns) episode.turns = read_turns(row.getColumn(0).getInt64(), detail);
    return episode;
  }

  // Without images: an empty one in place of each image and video.
  Part read_part(const Json& part, Detail detail) const {
    if (part.contains("text")) return Part::of(part.at("text").get<std::string>());
    if (detail != Detail::whole) return Part::of(Image());
    if (part.contains("image")) return Part::of(read_image(part.at("image")));
    return Part::of(video_in(part.at("video"), [this](const std::string& hash) { return read_image(hash); }));
  }

  std::vector<Turn> read_turns(std::int64_t episode_id, Detail detail) const {
    select_turns_.reset();
    select_turns_.bind(1, episode_id);
    std::vector<Turn> turns;
    while (select_turns_.executeStep()) {
      Turn& turn = turns.emplace_back();
      for (const Json& part : stored_json(select_turns_.getColumn(0).getString()))
        turn.observation.parts.push_back(read_part(part, detail));
      turn.text = select_turns_.getColumn(1).getString();
      turn.token_ids = read_blob<std::int32_t>(select_turns_.getColumn(2));
      turn.logprobs = read_blob<float>(select_turns_.getColumn(3));
      turn.finish_reason = select_turns_.getColumn(4).getString();
      turn.prompt_tokens = select_turns_.getColumn(5).getInt();
      turn.reward.total = select_turns_.getColumn(6).getDouble();
      const Json components = stored_json(select_turns_.getColumn(7).getString());
      for (const auto& [name, value] : components.items())
        turn.reward.components.emplace_back(name, value.get<double>());
      set_info(turn, stored_json(select_turns_.getColumn(8).getString()));
    }
    if (has_training_) read_credit(episode_id, turns);
    return turns;
  }

  void read_credit(std::int64_t episode_id, std::vector<Turn>& turns) const {
    select_credit_->reset();
    select_credit_->bind(1, episode_id);
    while (select_credit_->executeStep()) {
      const auto number = static_cast<std::size_t>(select_credit_->getColumn(0).getInt64());
      if (number >= turns.size())
        throw Error("turn {} has credit, but the episode has only {} turns", number, turns.size());
      TurnCredit& credit = turns[number].credit;
      credit.token_bytes = read_blob<std::uint16_t>(select_credit_->getColumn(1));
      credit.advantage = read_blob<float>(select_credit_->getColumn(2));
      credit.weight = read_blob<float>(select_credit_->getColumn(3));
      credit.kl = read_blob<float>(select_credit_->getColumn(4));
    }
  }

  Image read_image(const std::string& hash) const {
    if (const auto found = images_.find(hash); found != images_.end()) return found->second;
    select_image_.reset();
    select_image_.bind(1, hash);
    if (!select_image_.executeStep()) throw Error("image {} is missing", hash);
    const SQLite::Column png = select_image_.getColumn(0);
    const Image image = decode_image(
        {static_cast<const std::uint8_t*>(png.getBlob()), static_cast<std::size_t>(png.getBytes())}, "image " + hash);
    select_image_.reset();  // an open statement would hide later writes
    if (images_.size() >= kCachedImages) images_.clear();
    return images_[hash] = image;
  }

  fs::path path_;
  mutable SQLite::Database database_;
  bool has_training_ = false;  // false: the file is older than training
  bool has_journal_ = false;   // false: the file is older than searches
  mutable SQLite::Statement select_turns_{database_, kSelectTurns};
  mutable std::optional<SQLite::Statement> select_credit_;
  mutable SQLite::Statement select_image_{database_, "SELECT png FROM images WHERE hash = ?"};
  mutable std::map<std::string, Image> images_;
};

}  // namespace

std::unique_ptr<RunReader> RunReader::open(const fs::path& folder) {
  const fs::path path = folder / kRunDatabase;
  if (std::error_code error; !fs::is_regular_file(path, error))
    throw Error("{}: not a run folder: it has no {}. Give the folder that `agon run --out` wrote.", folder.string(),
                kRunDatabase);
  try {
    return std::make_unique<SqliteReader>(path);
  } catch (const SQLite::Exception& exception) {
    throw Error("{}: the run cannot be read: {}. Is it damaged? Restore it from a copy.", path.string(),
                exception.what());
  }
}

}  // namespace agon::record
