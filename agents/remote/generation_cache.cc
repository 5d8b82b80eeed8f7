#include "agents/remote/generation_cache.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdlib>
#include <mutex>

#include "agents/remote/chat_request.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/json_parse.h"

namespace agon::agents {
namespace {

namespace fs = std::filesystem;

constexpr int kApplicationId = 0x61676f67, kVersion = 1;  // "agog"
constexpr const char* kSchema = R"sql(
CREATE TABLE generations (key TEXT PRIMARY KEY, model TEXT NOT NULL, prompt_tokens INTEGER NOT NULL, tokens INTEGER NOT NULL,
  completion TEXT NOT NULL, recorded TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))) STRICT;
CREATE TABLE servers (endpoint TEXT PRIMARY KEY, traits TEXT NOT NULL) STRICT;
)sql";

SQLite::Database open_database(const fs::path& file, bool read_only) {
  if (read_only && !fs::exists(file))
    throw Error("cache: there is no {}. Record with --cache record first.", file.string());
  if (!read_only && !file.parent_path().empty()) fs::create_directories(file.parent_path());
  SQLite::Database database(file.string(),
                            read_only ? SQLite::OPEN_READONLY : SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, 10'000);
  if (!read_only) {
    database.exec("PRAGMA journal_mode = WAL");
    database.exec("BEGIN IMMEDIATE");
    if (database.execAndGet("SELECT count(*) FROM sqlite_master").getInt() == 0)
      database.exec(
          fmt::format("{} PRAGMA application_id = {}; PRAGMA user_version = {};", kSchema, kApplicationId, kVersion));
    database.exec("COMMIT");
    database.exec("PRAGMA synchronous = NORMAL");
  }
  if (database.execAndGet("PRAGMA application_id").getInt() != kApplicationId ||
      database.execAndGet("PRAGMA user_version").getInt() != kVersion)
    throw Error("cache: {} is not a cache of generations of this agon. Choose another file with AGON_CACHE.",
                file.string());
  return database;
}

Json json_of(const Completion& completion) {
  Json json{{"text", completion.text},
            {"finish_reason", to_string(completion.finish_reason)},
            {"matched_stop", completion.matched_stop},
            {"prompt_tokens", completion.prompt_tokens},
            {"tokens", completion.tokens()}};
  if (!completion.logprobs.empty()) {
    json["logprobs"] = completion.logprobs;
    json["token_ends"] = completion.token_ends;
  }
  if (!completion.reasoning.empty()) json["reasoning"] = completion.reasoning;
  return json;
}

Completion completion_in(const Json& json) {
  Completion completion;
  completion.text = json.at("text");
  const auto reason = json.at("finish_reason").get<std::string>();
  for (const FinishReason one : {FinishReason::stop, FinishReason::length, FinishReason::context})
    if (reason == to_string(one)) completion.finish_reason = one;
  completion.matched_stop = json.at("matched_stop");
  completion.prompt_tokens = json.at("prompt_tokens");
  completion.counted_tokens = json.at("tokens").get<int>();
  completion.logprobs = json.value("logprobs", std::vector<float>());
  completion.token_ends = json.value("token_ends", std::vector<std::uint32_t>());
  completion.reasoning = json.value("reasoning", "");
  return completion;
}

// Calls visit(name, trait) for each trait, to read or to write it.
template <typename Visit>
void visit_traits(ServerTraits& traits, const Visit& visit) {
  visit("model", traits.model);
  visit("samples", traits.samples);
  visit("seeds", traits.seeds);
  visit("many", traits.many);
  visit("names_stop", traits.names_stop);
  visit("keeps_stop", traits.keeps_stop);
  visit("logprobs", traits.logprobs);
  visit("token_ids", traits.token_ids);
  visit("scores", traits.scores);
  visit("echoes", traits.echoes);
  visit("images", traits.images);
  visit("counts_tokens", traits.counts_tokens);
  visit("repeats_turn", traits.repeats_turn);
  visit("keeps_blank_end", traits.keeps_blank_end);
  visit("limit_is_completion", traits.limit_is_completion);
  visit("continuing", traits.continuing);
  visit("context", traits.context);
}

}  // namespace

fs::path generation_cache_file() {
  const auto folder = [](const char* variable) {
    const char* const value = std::getenv(variable);
    return fs::path(value ? value : "");
  };
  if (const fs::path file = folder("AGON_CACHE"); !file.empty()) return file;
  const fs::path cache = folder("XDG_CACHE_HOME"), home = folder("HOME");
  return (!cache.empty() ? cache : (home.empty() ? fs::temp_directory_path() : home) / ".cache") / "agon" /
         "generations.sqlite";
}

struct GenerationCache::Database {
  fs::path file;
  SQLite::Database database;
  std::mutex mutex;

  // Runs work() with exclusive access to the database. Exceptions of SQLite become Errors.
  template <typename Work>
  auto run(Work work) {
    const std::lock_guard lock(mutex);
    try {
      return work(database);
    } catch (const SQLite::Exception& exception) {
      throw Error("cache: {} failed: {}. Is the disk full, or the file damaged? --cache off does without it.",
                  file.string(), exception.what());
    } catch (const Json::exception& exception) {
      throw Error("cache: {} is damaged: {}. Move it away.", file.string(), exception.what());
    }
  }
};

GenerationCache::GenerationCache(const fs::path& file, bool read_only) try
    : database_(new Database{file, open_database(file, read_only), {}}) {
} catch (const SQLite::Exception& exception) {
  throw Error("cache: {} does not open: {}. Choose another file with AGON_CACHE, or give --cache off.", file.string(),
              exception.what());
} catch (const fs::filesystem_error& error) {
  throw Error("cache: {}. Choose another file with AGON_CACHE, or give --cache off.", error.what());
}
GenerationCache::~GenerationCache() = default;

std::string GenerationCache::key_of(const Endpoint& endpoint, const std::string& model,
                                    const CompletionRequest& request, int sample) {
  Json key{{"model", model}, {"extra_body", endpoint.extra_body}, {"reasoning", endpoint.keep_reasoning}};
  key["messages"] = Json::array();
  for (const Message& message : request.messages) {
    Json parts = Json::array();
    for (const Part& part : message.parts) parts.push_back(part.is_text() ? Json(part.text) : Json{part.content()});
    key["messages"].push_back({{"role", to_string(message.role)}, {"parts", std::move(parts)}});
    for (const ToolCall& call : message.tool_calls)
      key["messages"].back()["calls"].push_back({call.id, call.name, call.arguments});
  }
  const Sampling& sampling = request.sampling;
  key["prefix"] = request.prefix;
  key["sampling"] = {sampling.temperature, sampling.top_p,    sampling.top_k,       sampling.max_tokens,
                     sampling.stop,        sampling.logprobs, sampling.alternatives};
  const LogitChanges& changes = sampling.changes;
  if (sampling.min_p > 0 || !changes.are_none())
    key["sampling"].push_back({sampling.min_p, changes.repetition_penalty, changes.presence_penalty,
                               changes.frequency_penalty, bias_json(changes.bias)});
  if (!changes.banned.empty()) key["sampling"].push_back(changes.banned);
  if (sampling.temperature > 0) key["seed"] = {sampling.seed, sample};
  const std::string whole = to_text(key);
  return hash_bytes({reinterpret_cast<const std::uint8_t*>(whole.data()), whole.size()}).hex();
}

std::optional<Completion> GenerationCache::find(const std::string& key) {
  return database_->run([&](SQLite::Database& database) -> std::optional<Completion> {
    SQLite::Statement find(database, "SELECT completion FROM generations WHERE key = ?");
    find.bindNoCopy(1, key);
    if (!find.executeStep()) return {};
    return completion_in(Json::parse(find.getColumn(0).getString()));
  });
}

void GenerationCache::add(const std::string& key, const std::string& model, const Completion& completion) {
  if (!completion.failure.empty()) return;
  const std::string text = to_text(json_of(completion));
  database_->run([&](SQLite::Database& database) {
    SQLite::Statement insert(database,
                             "INSERT OR IGNORE INTO generations (key, model, prompt_tokens, tokens, completion) "
                             "VALUES (?, ?, ?, ?, ?)");
    insert.bindNoCopy(1, key);
    insert.bindNoCopy(2, model);
    insert.bind(3, completion.prompt_tokens);
    insert.bind(4, completion.tokens());
    insert.bindNoCopy(5, text);
    insert.exec();
  });
}

std::optional<ServerTraits> GenerationCache::traits_of(const Endpoint& endpoint) {
  return database_->run([&](SQLite::Database& database) -> std::optional<ServerTraits> {
    SQLite::Statement find(database, "SELECT traits FROM servers WHERE endpoint = ?");
    find.bind(1, endpoint.address());
    if (!find.executeStep()) return {};
    const Json json = Json::parse(find.getColumn(0).getString());
    ServerTraits traits;
    visit_traits(traits, [&](const char* name, auto& value) {
      if (json.contains(name)) json.at(name).get_to(value);  // earlier versions recorded fewer traits
    });
    return traits;
  });
}

void GenerationCache::keep_traits(const Endpoint& endpoint, const ServerTraits& traits) {
  Json json = Json::object();
  ServerTraits copy = traits;
  visit_traits(copy, [&](const char* name, const auto& value) { json[name] = value; });
  database_->run([&](SQLite::Database& database) {
    SQLite::Statement insert(database, "INSERT OR REPLACE INTO servers (endpoint, traits) VALUES (?, ?)");
    insert.bind(1, endpoint.address());
    insert.bind(2, json.dump());
    insert.exec();
  });
}

std::vector<CachedModel> GenerationCache::models() {
  return database_->run([&](SQLite::Database& database) {
    std::vector<CachedModel> models;
    SQLite::Statement select(database,
                             "SELECT model, count(*), sum(prompt_tokens), sum(tokens), sum(length(completion)), "
                             "max(recorded) FROM generations GROUP BY model ORDER BY model");
    while (select.executeStep())
      models.push_back({select.getColumn(0).getString(), select.getColumn(1).getInt64(), select.getColumn(2).getInt64(),
                        select.getColumn(3).getInt64(), select.getColumn(4).getInt64(),
                        select.getColumn(5).getString()});
    return models;
  });
}

std::int64_t GenerationCache::remove(const std::string& model) {
  return database_->run([&](SQLite::Database& database) -> std::int64_t {
    SQLite::Statement remove(database, "DELETE FROM generations WHERE model = ?");
    remove.bindNoCopy(1, model);
    return remove.exec();
  });
}

}  // namespace agon::agents
