#include "tools/search/search_cache.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <cassert>
#include <mutex>

#include "core/error.h"
#include "core/hash.h"
#include "core/json_parse.h"
#include "core/text.h"

namespace agon::tools {
namespace {

namespace fs = std::filesystem;

constexpr int kApplicationId = 0x61676f63, kVersion = 1;  // "agoc"
constexpr const char* kTables = R"sql(
CREATE TABLE IF NOT EXISTS searches (key TEXT PRIMARY KEY, engine TEXT NOT NULL, query TEXT NOT NULL, top_k INTEGER NOT NULL,
  hits TEXT NOT NULL, recorded TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))) STRICT;
)sql";

SortedJson json_of(const std::vector<SearchHit>& hits) {
  SortedJson list = SortedJson::array();
  for (const SearchHit& hit : hits) {
    list.push_back({{"id", hit.id},
                    {"title", hit.title},
                    {"text", hit.text},
                    {"snippet", hit.snippet},
                    {"url", hit.url},
                    {"score", hit.score ? SortedJson(*hit.score) : SortedJson()}});
    if (hit.head) list.back()["head"] = *hit.head;
  }
  return list;
}

std::vector<SearchHit> hits_of(const SortedJson& list) {
  std::vector<SearchHit> hits;
  for (const SortedJson& item : list) {
    const SortedJson& score = item.at("score");
    hits.push_back({item.at("id"), item.at("title"), item.at("text"), item.at("snippet"), item.at("url"),
                    score.is_null() ? std::nullopt : std::optional<double>(score.get<double>()), std::nullopt});
    if (item.contains("head")) hits.back().head = item.at("head").get<std::string>();
  }
  return hits;
}

SQLite::Database open_database(const fs::path& file, CacheMode mode) {
  std::error_code code;
  if (mode == CacheMode::replay && !fs::exists(file, code))
    throw Error("{}: there is no such search cache to replay. Record one first.", file.string());
  const int flags = mode == CacheMode::replay ? SQLite::OPEN_READONLY : SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE;
  SQLite::Database database(file.string(), flags, 5000);
  const bool fresh = database.execAndGet("SELECT count(*) FROM sqlite_master").getInt() == 0;
  if (fresh && mode == CacheMode::record)
    database.exec(fmt::format("BEGIN IMMEDIATE; {} PRAGMA application_id = {}; PRAGMA user_version = {}; COMMIT",
                              kTables, kApplicationId, kVersion));
  if (database.execAndGet("PRAGMA application_id").getInt() != kApplicationId ||
      database.execAndGet("PRAGMA user_version").getInt() != kVersion)
    throw Error("{}: not a search cache of this agon. Choose another file.", file.string());
  database.exec("PRAGMA synchronous = NORMAL");
  return database;
}

class CachedSearch : public SearchBackend {
 public:
  CachedSearch(std::shared_ptr<SearchBackend> engine, const fs::path& file, CacheMode mode)
      : engine_(std::move(engine)), file_(file.string()), mode_(mode), database_(open_database(file, mode)) {}

  SearchReply search(const std::string& query, int top_k, double seconds) override {
    const std::string normal = fmt::format("{}", fmt::join(split_words(query), " "));
    const std::string key = key_of(normal, top_k);
    if (auto hits = find(key)) return {std::move(*hits), {}, 0};
    if (mode_ == CacheMode::replay)
      return SearchReply::failed(ToolFault::offline_miss,
                                 fmt::format("Nobody recorded a search for {} with {} hits, and this run must not ask "
                                             "the engine. Try another query.",
                                             shown_text(query), top_k));
    SearchReply reply = engine_->search(query, top_k, seconds);
    if (!reply.failure) keep(key, normal, top_k, reply.hits);
    return reply;
  }

  Json identity() const override { return engine_->identity(); }

 private:
  std::string key_of(const std::string& query, int top_k) const {
    const std::string whole = to_text(Json{{"engine", engine_->identity()}, {"query", query}, {"top_k", top_k}});
    return hash_bytes({reinterpret_cast<const std::uint8_t*>(whole.data()), whole.size()}).hex();
  }

  // Runs work() with exclusive use of the database; turns SQLite's exceptions into Error.
  template <typename Work>
  auto with_database(Work work) {
    const std::lock_guard lock(mutex_);
    try {
      return work();
    } catch (const SQLite::Exception& exception) {
      throw Error("{}: the search cache failed: {}. Is the disk full, or the file damaged?", file_, exception.what());
    } catch (const SortedJson::exception& exception) {
      throw Error("{}: the search cache is damaged: {}.", file_, exception.what());
    }
  }

  std::optional<std::vector<SearchHit>> find(const std::string& key) {
    return with_database([&]() -> std::optional<std::vector<SearchHit>> {
      SQLite::Statement find(database_, "SELECT hits FROM searches WHERE key = ?");
      find.bindNoCopy(1, key);
      if (!find.executeStep()) return {};
      return hits_of(SortedJson::parse(find.getColumn(0).getString()));
    });
  }

  void keep(const std::string& key, const std::string& query, int top_k, const std::vector<SearchHit>& hits) {
    with_database([&] {
      SQLite::Statement insert(
          database_, "INSERT OR IGNORE INTO searches (key, engine, query, top_k, hits) VALUES (?, ?, ?, ?, ?)");
      insert.bind(1, key);
      insert.bind(2, to_text(engine_->identity()));
      insert.bind(3, query);
      insert.bind(4, top_k);
      insert.bind(5, to_text(json_of(hits)));
      insert.exec();
    });
  }

  const std::shared_ptr<SearchBackend> engine_;
  const std::string file_;
  const CacheMode mode_;
  std::mutex mutex_;  // guards the database
  SQLite::Database database_;
};

}  // namespace

std::unique_ptr<SearchBackend> make_cached_search(std::shared_ptr<SearchBackend> engine, const fs::path& file,
                                                  CacheMode mode) {
  assert(mode != CacheMode::off);
  try {
    return std::make_unique<CachedSearch>(std::move(engine), file, mode);
  } catch (const SQLite::Exception& exception) {
    throw Error("{}: the search cache cannot be opened: {}. Choose another file.", file.string(), exception.what());
  }
}

}  // namespace agon::tools
