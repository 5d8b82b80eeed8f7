// Writes run.sqlite: EpisodeStore of record/episode_store.h. record() only queues; one thread owns the database while
// it writes a batch, and each batch is one transaction.
#include "record/episode_store.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <bit>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_set>
#include <variant>

#include "core/error.h"
#include "core/file.h"
#include "core/pictures/video_json.h"
#include "core/text.h"
#include "record/run_database.h"
#include "record/run_schema.h"

namespace agon::record {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "tokens are stored as little-endian blobs");

constexpr std::chrono::milliseconds kCommitInterval{50};
constexpr std::size_t kBatchBytes = 32u << 20;   // a batch of this size does not wait for its interval
constexpr std::size_t kQueueBytes = 128u << 20;  // record() waits while this much is queued

std::size_t bytes_of(const Part& part) {
  std::size_t bytes = part.text.size() + part.image.rgb().size();
  if (part.is_video())
    for (const Image& frame : part.video->frames) bytes += frame.rgb().size();
  return bytes;
}

std::size_t bytes_of(const Episode& episode) {
  std::size_t bytes = sizeof episode + episode.prompt.size();
  for (const Turn& turn : episode.turns) {
    bytes += sizeof turn + turn.text.size() + (turn.token_ids.size() + turn.logprobs.size()) * 4;
    bytes += turn.credit.token_bytes.size() * 2 + turn.credit.advantage.size() * 12;
    for (const Part& part : turn.observation.parts) bytes += bytes_of(part);
  }
  return bytes;
}

struct StepMetrics {
  std::int64_t step;
  Metrics metrics;
};

std::size_t bytes_of(const StepMetrics& metrics) {
  std::size_t bytes = sizeof metrics;
  for (const auto& [name, value] : metrics.metrics) bytes += name.size() + sizeof value;
  return bytes;
}

struct Entry {
  std::int64_t task_index, number;
  std::string kind, body;
  std::vector<Image> images;
};

std::size_t bytes_of(const Entry& entry) {
  std::size_t bytes = sizeof entry + entry.kind.size() + entry.body.size();
  for (const Image& image : entry.images) bytes += image.rgb().size();
  return bytes;
}

using Record = std::variant<Episode, StepMetrics, Entry>;

template <typename Values>
void bind_blob(SQLite::Statement& statement, int index, const Values& values) {
  static const char nothing = 0;  // a null pointer would bind NULL
  const void* data = values.empty() ? static_cast<const void*>(&nothing) : values.data();
  statement.bindNoCopy(index, data, static_cast<int>(values.size() * sizeof(*values.data())));
}

constexpr const char* kDeleteOfEpisode =
    "DELETE FROM {} WHERE episode_id = (SELECT id FROM episodes WHERE task_index = ? AND sample = ? AND IFNULL(step, "
    "-1) "
    "= ?)";

// Deletes everything from training steps after the given one; episodes last, since the other rows are found through
// them.
constexpr const char* kForget[] = {
    "DELETE FROM metrics WHERE step > ?",
    "DELETE FROM token_credit WHERE episode_id IN (SELECT id FROM episodes WHERE step > ?)",
    "DELETE FROM turns WHERE episode_id IN (SELECT id FROM episodes WHERE step > ?)",
    "DELETE FROM episodes WHERE step > ?"};

void run_once(SQLite::Statement& statement) {
  statement.exec();
  statement.reset();
}

class SqliteStore : public EpisodeStore {
 public:
  SqliteStore(const fs::path& folder, const Json& config, bool resume)
      : folder_(folder), lock_(folder), database_(std::move(*open_run_database(folder, config, resume))) {
    complete_ = database_.execAndGet("SELECT summary IS NOT NULL FROM run").getInt() != 0;
    earlier_seconds_ = database_.execAndGet("SELECT seconds FROM run").getDouble();
    SQLite::Statement images(database_, "SELECT hash FROM images");
    while (images.executeStep()) images_.insert(images.getColumn(0).getString());
    load_episodes();
    writer_ = std::jthread([this] { write_until_stopped(); });
  }

  ~SqliteStore() override {
    {
      const std::lock_guard lock(queue_mutex_);
      stop_ = true;
    }
    work_.notify_one();
    writer_.join();
  }

  void record(Episode episode) override {
    const std::size_t bytes = bytes_of(episode);
    enqueue(std::move(episode), bytes);
  }

  void record_metrics(std::int64_t step, Metrics metrics) override {
    StepMetrics entry{step, std::move(metrics)};
    const std::size_t bytes = bytes_of(entry);
    enqueue(std::move(entry), bytes);
  }

  void record_entry(JournalEntry entry) override {
    Entry record{static_cast<std::int64_t>(entry.task_index), entry.number, std::move(entry.kind), to_text(entry.body),
                 std::move(entry.images)};
    const std::size_t bytes = bytes_of(record);
    enqueue(std::move(record), bytes);
  }

  void flush() override {
    std::unique_lock lock(queue_mutex_);
    const std::uint64_t target = recorded_;
    flush_target_ = target;
    work_.notify_one();
    progress_.wait(lock, [&] { return committed_ >= target || !failure_.empty(); });
    throw_failure();
    lock.unlock();
    sync_database();
  }

  std::set<std::pair<std::uint64_t, int>> finished() const override {
    const std::lock_guard lock(database_mutex_);
    std::set<std::pair<std::uint64_t, int>> keys;
    for (const auto& [key, done] : episodes_)
      if (done) keys.emplace(static_cast<std::uint64_t>(std::get<0>(key)), std::get<1>(key));
    return keys;
  }

  void forget_after(std::int64_t step) override {
    flush_and_change([&] {
      const auto before = database_.getTotalChanges();
      for (const char* sql : kForget) {
        SQLite::Statement forget(database_, sql);
        forget.bind(1, step);
        forget.exec();
      }
      if (database_.getTotalChanges() == before) return;
      database_.exec("DELETE FROM tasks WHERE task_index NOT IN (SELECT task_index FROM episodes)");
      reopen();
      load_episodes();
    });
  }

  void finish(const Json& summary) override {
    flush_and_change([&] {
      SQLite::Statement update(database_,
                               "UPDATE run SET summary = ?, finished = strftime('%Y-%m-%dT%H:%M:%SZ', 'now')");
      update.bind(1, to_text(summary));
      update.exec();
      complete_ = true;
    });
  }

 private:
  void load_episodes() {
    tasks_.clear();
    episodes_.clear();
    SQLite::Statement select(database_, "SELECT task_index, sample, status = 'done', IFNULL(step, -1) FROM episodes");
    while (select.executeStep()) {
      const std::int64_t task_index = select.getColumn(0).getInt64();
      const bool done = select.getColumn(2).getInt() != 0;
      if (done) tasks_.insert(task_index);
      episodes_[{task_index, select.getColumn(1).getInt(), select.getColumn(3).getInt64()}] = done;
    }
  }

  void enqueue(Record record, std::size_t bytes) {
    std::unique_lock lock(queue_mutex_);
    progress_.wait(lock, [&] { return queued_bytes_ < kQueueBytes || !failure_.empty(); });
    throw_failure();
    queue_.push_back(std::move(record));
    queued_bytes_ += bytes;
    ++recorded_;
    if (queue_.size() == 1 || queued_bytes_ >= kBatchBytes) work_.notify_one();
  }

  // In WAL mode a commit survives a crash of the program, and a crash of the machine once the log is synced.
  void sync_database() const {
    sync_file(folder_ / (std::string(kRunDatabase) + "-wal"));
    sync_file(folder_ / kRunDatabase);
  }

  // Commits everything recorded, then runs `change` on the database, in one transaction.
  template <typename Change>
  void flush_and_change(const Change& change) {
    flush();
    const std::lock_guard lock(database_mutex_);
    try {
      SQLite::Transaction transaction(database_, SQLite::TransactionBehavior::IMMEDIATE);
      change();
      transaction.commit();
    } catch (const std::exception& exception) {
      throw Error("{}", failure_message(exception));
    }
    sync_database();
  }

  // Marks a complete run as incomplete.
  void reopen() {
    if (complete_) database_.exec("UPDATE run SET summary = NULL, finished = NULL");
    complete_ = false;
  }

  void throw_failure() const {
    if (!failure_.empty()) throw Error("{}", failure_);
  }

  std::string failure_message(const std::exception& exception) const {
    const auto* sqlite = dynamic_cast<const SQLite::Exception*>(&exception);
    const bool full = sqlite != nullptr && sqlite->getErrorCode() == SQLITE_FULL;
    if (sqlite != nullptr && (sqlite->getErrorCode() == SQLITE_CORRUPT || sqlite->getErrorCode() == SQLITE_NOTADB))
      return damaged_run_message(folder_);
    return fmt::format("{}: recording stopped: {}. All committed episodes are intact; {}, then rerun with --resume.",
                       folder_.string(), full ? "the disk is full" : exception.what(),
                       full ? "free some space" : "check the disk");
  }

  void write_until_stopped() {
    std::unique_lock lock(queue_mutex_);
    while (true) {
      work_.wait(lock, [&] { return stop_ || !queue_.empty(); });
      if (queue_.empty()) return;
      work_.wait_for(lock, kCommitInterval,
                     [&] { return stop_ || flush_target_ > committed_ || queued_bytes_ >= kBatchBytes; });
      std::vector<Record> batch;
      batch.swap(queue_);
      queued_bytes_ = 0;
      lock.unlock();
      const std::string failure = write(batch);
      lock.lock();
      failure_ = failure;
      if (failure_.empty()) committed_ += batch.size();
      progress_.notify_all();
      if (!failure_.empty()) return;
    }
  }

  // One transaction. Returns the error message; empty: success.
  std::string write(const std::vector<Record>& batch) {
    const std::lock_guard lock(database_mutex_);
    try {
      SQLite::Transaction transaction(database_, SQLite::TransactionBehavior::IMMEDIATE);
      reopen();
      for (const Record& record : batch) std::visit([this](const auto& one) { write_record(one); }, record);
      update_seconds_.bind(
          1, earlier_seconds_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - opened_).count());
      run_once(update_seconds_);
      transaction.commit();
      return {};
    } catch (const std::exception& exception) {
      return failure_message(exception);
    }
  }

  void write_record(const StepMetrics& metrics) {
    for (const auto& [name, value] : metrics.metrics) {
      insert_metric_.bind(1, metrics.step);
      insert_metric_.bindNoCopy(2, name);
      insert_metric_.bind(3, value);  // SQLite keeps a NaN as NULL
      run_once(insert_metric_);
    }
  }

  void write_record(const Entry& entry) {
    for (const Image& image : entry.images) write_image(image);
    insert_entry_.bind(1, entry.task_index);
    insert_entry_.bind(2, entry.number);
    insert_entry_.bindNoCopy(3, entry.kind);
    insert_entry_.bindNoCopy(4, entry.body);
    run_once(insert_entry_);
  }

  void write_record(const Episode& episode) {
    const auto task_index = static_cast<std::int64_t>(episode.task_index);
    const bool done = episode.status == EpisodeStatus::done;
    if (!tasks_.contains(task_index)) write_task(episode);
    if (done) tasks_.insert(task_index);
    const std::int64_t step = episode.train_step.value_or(-1);
    if (!episodes_.insert_or_assign({task_index, episode.sample, step}, done).second) {
      for (SQLite::Statement* statement : {&delete_credit_, &delete_turns_, &delete_episode_}) {
        statement->bind(1, task_index);
        statement->bind(2, episode.sample);
        statement->bind(3, step);
        run_once(*statement);
      }
    }
    insert_episode_.clearBindings();
    insert_episode_.bind(1, task_index);
    insert_episode_.bind(2, episode.sample);
    insert_episode_.bindNoCopy(3, done ? "done" : "failed");
    insert_episode_.bindNoCopy(4, episode.failure);
    insert_episode_.bind(5, episode.reward);
    insert_episode_.bind(6, episode.success);
    insert_episode_.bind(7, episode.truncated);
    if (episode.answer) insert_episode_.bindNoCopy(8, *episode.answer);
    if (episode.score) insert_episode_.bind(9, *episode.score);
    insert_episode_.bind(10, episode.seconds);
    if (episode.train_step) insert_episode_.bind(11, *episode.train_step);
    run_once(insert_episode_);
    const std::int64_t episode_id = database_.getLastInsertRowid();
    for (std::size_t i = 0; i < episode.turns.size(); ++i)
      write_turn(episode_id, static_cast<int>(i), episode.turns[i]);
  }

  void write_task(const Episode& episode) {
    insert_task_.bind(1, static_cast<std::int64_t>(episode.task_index));
    insert_task_.bindNoCopy(2, episode.task_id);
    insert_task_.bind(3, episode.level);
    insert_task_.bindNoCopy(4, episode.kind);
    insert_task_.bindNoCopy(5, episode.prompt);
    insert_task_.bind(6, to_text(episode.gold));
    run_once(insert_task_);
  }

  void write_turn(std::int64_t episode_id, int number, const Turn& turn) {
    Json observation = Json::array();
    for (const Part& part : turn.observation.parts) observation.push_back(written(part));
    Json components = Json::object();
    for (const auto& [name, value] : turn.reward.components) components[name] = value;
    insert_turn_.bind(1, episode_id);
    insert_turn_.bind(2, number);
    insert_turn_.bind(3, to_text(observation));
    insert_turn_.bindNoCopy(4, turn.text);
    bind_blob(insert_turn_, 5, turn.token_ids);
    bind_blob(insert_turn_, 6, turn.logprobs);
    insert_turn_.bindNoCopy(7, turn.finish_reason);
    insert_turn_.bind(8, turn.prompt_tokens);
    insert_turn_.bind(9, turn.reward.total);
    insert_turn_.bind(10, to_text(components));
    insert_turn_.bind(11, to_text(info_of(turn)));
    run_once(insert_turn_);
    if (turn.credit != TurnCredit{}) write_credit(episode_id, number, turn.credit);
  }

  void write_credit(std::int64_t episode_id, int number, const TurnCredit& credit) {
    insert_credit_.bind(1, episode_id);
    insert_credit_.bind(2, number);
    bind_blob(insert_credit_, 3, credit.token_bytes);
    bind_blob(insert_credit_, 4, credit.advantage);
    bind_blob(insert_credit_, 5, credit.weight);
    bind_blob(insert_credit_, 6, credit.kl);
    run_once(insert_credit_);
  }

  Json written(const Part& part) {
    const auto name_of = [this](const Image& image) { return write_image(image); };
    if (part.is_video()) return {{"video", video_json(*part.video, name_of)}};
    return part.is_image() ? Json{{"image", write_image(part.image)}} : Json{{"text", part.text}};
  }
  std::string write_image(const Image& image) {
    std::string hash = image.hash().hex();
    if (!images_.insert(hash).second) return hash;
    insert_image_.bindNoCopy(1, hash);
    insert_image_.bind(2, image.width());
    insert_image_.bind(3, image.height());
    bind_blob(insert_image_, 4, image.png());
    run_once(insert_image_);
    return hash;
  }

  const fs::path folder_;
  const FolderLock lock_;

  mutable std::mutex database_mutex_;  // guards what follows
  mutable SQLite::Database database_;
  SQLite::Statement update_seconds_{database_, "UPDATE run SET seconds = ?"};
  SQLite::Statement insert_task_{database_, "INSERT OR REPLACE INTO tasks VALUES (?, ?, ?, ?, ?, ?)"};
  SQLite::Statement insert_episode_{
      database_,
      "INSERT INTO episodes (task_index, sample, status, failure, reward, success, truncated, answer, score, seconds, "
      "step) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
  SQLite::Statement insert_turn_{database_, "INSERT INTO turns VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"};
  SQLite::Statement insert_credit_{database_, "INSERT INTO token_credit VALUES (?, ?, ?, ?, ?, ?)"};
  SQLite::Statement insert_metric_{database_, "INSERT OR REPLACE INTO metrics VALUES (?, ?, ?)"};
  SQLite::Statement insert_entry_{database_, "INSERT OR REPLACE INTO journal VALUES (?, ?, ?, ?)"};
  SQLite::Statement insert_image_{database_, "INSERT INTO images VALUES (?, ?, ?, ?)"};
  SQLite::Statement delete_credit_{database_, fmt::format(kDeleteOfEpisode, "token_credit")};
  SQLite::Statement delete_turns_{database_, fmt::format(kDeleteOfEpisode, "turns")};
  SQLite::Statement delete_episode_{
      database_, "DELETE FROM episodes WHERE task_index = ? AND sample = ? AND IFNULL(step, -1) = ?"};
  std::unordered_set<std::string> images_;  // the hashes of images that the file has
  std::unordered_set<std::int64_t>
      tasks_;  // tasks with an episode that is done; a failed one may know too little of its task
  std::map<std::tuple<std::int64_t, int, std::int64_t>, bool> episodes_;  // (task index, sample, step or -1): done?
  bool complete_ = false;
  double earlier_seconds_ = 0;  // of recording before this process
  const std::chrono::steady_clock::time_point opened_ = std::chrono::steady_clock::now();

  std::mutex queue_mutex_;                   // guards what follows
  std::condition_variable work_, progress_;  // signals to the writer; signals from it
  std::vector<Record> queue_;
  std::size_t queued_bytes_ = 0;
  std::uint64_t recorded_ = 0, committed_ = 0, flush_target_ = 0;  // records since the store was opened
  bool stop_ = false;
  std::string failure_;

  std::jthread writer_;
};

}  // namespace

void EpisodeStore::replace_config(const fs::path& folder, const Json& config) try {
  const FolderLock lock(folder);
  SQLite::Database database((folder / kRunDatabase).string(), SQLite::OPEN_READWRITE, 5000);
  check_run_schema(folder / kRunDatabase, database.execAndGet("PRAGMA application_id").getInt(),
                   database.execAndGet("PRAGMA user_version").getInt());
  SQLite::Statement update(database, "UPDATE run SET config = ?");
  update.bind(1, to_text(config));
  update.exec();
} catch (const SQLite::Exception&) {
  throw Error("{}", damaged_run_message(folder));
}

std::unique_ptr<EpisodeStore> EpisodeStore::create(const fs::path& folder, const Json& config, bool resume) {
  try {
    make_folders(folder);
  } catch (const Error& error) {
    throw Error("{} Choose another (--out; of a training run, output).", error.what());
  }
  try {
    check_run_folder(folder);
    return std::make_unique<SqliteStore>(folder, config, resume);
  } catch (const SQLite::Exception& exception) {
    throw Error("{}: the run cannot be opened: {}. Choose another folder (--out; of a training run, output).",
                folder.string(), exception.what());
  } catch (const Json::exception& exception) {
    throw Error("{}: the stored config is damaged: {}.", folder.string(), exception.what());
  }
}

}  // namespace agon::record
