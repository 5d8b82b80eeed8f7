#include "tools/search/search_index.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>

#include "core/error.h"
#include "core/text.h"
#include "tools/search/index_schema.h"
#include "tools/search/snippet.h"
#include "tools/search/word_tokenizer.h"

namespace agon::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostQueryBytes = 64 << 10, kMostQueryWords = 128, kSnippetWords = 48;
constexpr std::size_t kMostHitBytes = 32 << 20;  // of several hits together; a single one may be larger
constexpr int kNoDatabase = 26;                  // SQLITE_NOTADB

std::string damaged_message(const fs::path& path) {
  return fmt::format("{}: the index is damaged. Build it again with `agon index`.", path.string());
}

std::string foreign_message(const fs::path& path) {
  return fmt::format("{}: not a search index. Give a file that `agon index` wrote.", path.string());
}

SQLite::Database open_database(const fs::path& path) {
  std::error_code code;
  if (fs::is_directory(path, code)) throw Error("{}: a folder. Give a file that `agon index` wrote.", path.string());
  if (!fs::is_regular_file(path, code))
    throw Error("{}: no such index. Build it with `agon index DOCS.jsonl --out {}`.", path.string(), path.string());
  if (::access(path.c_str(), R_OK) != 0)
    throw Error("{}: cannot be read: {}. Check its permissions.", path.string(), std::strerror(errno));
  SQLite::Database database(path.string(), SQLite::OPEN_READONLY | SQLite::OPEN_NOMUTEX, 5000);
  if (database.execAndGet("PRAGMA application_id").getInt() != kIndexApplicationId)
    throw Error("{}", foreign_message(path));
  if (const int version = database.execAndGet("PRAGMA user_version").getInt(); version != kIndexVersion)
    throw Error("{}: an index of version {}; this agon reads version {}. Build it again with `agon index`.",
                path.string(), version, kIndexVersion);
  return database;
}

// The objects that a thread searches with; used by one thread at a time.
struct Connection {
  explicit Connection(const fs::path& path)
      : database(open_database(path)),
        hash(database.execAndGet("SELECT hash FROM corpus").getString()),
        tokenizer(database.getHandle()) {}

  SQLite::Database database;
  const std::string hash;
  WordTokenizer tokenizer;
  SQLite::Statement find_word{database, "SELECT documents, postings FROM words WHERE word = ?"};
  SQLite::Statement find_document{database, "SELECT id, title, text, head FROM documents WHERE number = ?"};
};

struct Word {
  std::string postings;
  double weight = 0;  // idf x occurrences in the query
};

// The different words of a query in order, each with its number of occurrences.
std::vector<std::pair<std::string, int>> query_words(WordTokenizer& tokenizer, std::string_view query) {
  std::vector<std::pair<std::string, int>> words;
  std::map<std::string, std::size_t, std::less<>> place_of;
  tokenizer.tokenize(cut_text(query, kMostQueryBytes), [&](std::string_view word, std::size_t, std::size_t) {
    const auto [place, fresh] = place_of.emplace(word, words.size());
    if (fresh) words.emplace_back(word, 0);
    ++words[place->second].second;
    return words.size() < kMostQueryWords || !fresh;
  });
  return words;
}

}  // namespace

struct SearchIndex::Implementation {
  Implementation(const fs::path& index, const Bm25& bm25) : path(index), parameters(bm25) {
    auto connection = std::make_unique<Connection>(path);
    SQLite::Statement corpus(connection->database, "SELECT documents, words, lengths FROM corpus");
    if (!corpus.executeStep()) throw Error("{}", damaged_message(path));
    const SQLite::Column blob = corpus.getColumn(2);
    const std::int64_t documents = corpus.getColumn(0).getInt64();
    // The number of documents is a value in the file, so it has to agree with the actual size of the blob.
    if (documents < 1 || blob.getBytes() % 4 != 0 || blob.getBytes() / 4 != documents)
      throw Error("{}", damaged_message(path));
    lengths.resize(static_cast<std::size_t>(documents));
    std::memcpy(lengths.data(), blob.getBlob(), lengths.size() * sizeof(lengths[0]));
    mean_length = std::max(1.0, static_cast<double>(corpus.getColumn(1).getInt64())) / static_cast<double>(documents);
    hash = connection->hash;
    free.push_back(std::move(connection));
  }

  // Runs work(connection) with a connection that no other thread uses at the same time.
  template <typename Work>
  auto with_connection(Work work) {
    try {
      std::unique_ptr<Connection> connection = take();
      auto result = work(*connection);
      const std::lock_guard lock(mutex);
      free.push_back(std::move(connection));
      return result;
    } catch (const SQLite::Exception& exception) {
      throw Error("{} ({})", damaged_message(path), exception.what());
    }
  }

  std::unique_ptr<Connection> take() {
    {
      const std::lock_guard lock(mutex);
      if (!free.empty()) {
        auto connection = std::move(free.back());
        free.pop_back();
        return connection;
      }
    }
    auto connection = std::make_unique<Connection>(path);
    if (connection->hash != hash)
      throw Error("{}: the index was replaced by another one while it was in use. Open it again.", path.string());
    return connection;
  }

  std::vector<Word> find_words(Connection& connection, const std::vector<std::pair<std::string, int>>& words,
                               std::map<std::string, double, std::less<>>* weights) const {
    std::vector<Word> found;
    for (const auto& [word, times] : words) {
      SQLite::Statement& find = connection.find_word;
      find.reset();
      find.bindNoCopy(1, word);
      if (!find.executeStep()) continue;
      const double idf = lucene_idf(lengths.size(), static_cast<std::uint64_t>(find.getColumn(0).getInt64()));
      found.push_back({find.getColumn(1).getString(), idf * times});
      if (weights) weights->emplace(word, idf);
    }
    connection.find_word.reset();
    return found;
  }

  std::vector<RankedDocument> rank(Connection& connection, const std::string& query, int top_k,
                                   std::map<std::string, double, std::less<>>* weights) const {
    const std::vector<Word> words = find_words(connection, query_words(connection.tokenizer, query), weights);
    std::vector<QueryWord> views;
    for (const Word& word : words) views.push_back({word.postings, word.weight});
    return rank_bm25(views, lengths, mean_length, parameters, static_cast<std::size_t>(top_k));
  }

  Document document(Connection& connection, std::uint32_t number) const {
    SQLite::Statement& find = connection.find_document;
    find.reset();
    find.bind(1, std::int64_t{number} + 1);
    if (!find.executeStep()) throw Error("{}", damaged_message(path));
    Document document{find.getColumn(0).getString(), find.getColumn(1).getString(), find.getColumn(2).getString(), {}};
    if (!find.getColumn(3).isNull()) document.head = find.getColumn(3).getString();
    find.reset();
    return document;
  }

  SearchReply search(Connection& connection, const std::string& query, int top_k) const {
    std::map<std::string, double, std::less<>> weights;
    std::vector<SearchHit> hits;
    std::size_t bytes = 0;
    for (const RankedDocument& ranked : rank(connection, query, top_k, &weights)) {
      Document found = document(connection, ranked.document);
      bytes += found.title.size() + found.text.size();
      if (bytes > kMostHitBytes && !hits.empty())
        return SearchReply::failed(
            ToolFault::bad_arguments,
            fmt::format("The first {} of the {} documents hold {} bytes (at most {}). Ask for fewer.", hits.size() + 1,
                        top_k, bytes, kMostHitBytes));
      std::string snippet = snippet_of(connection.tokenizer, found.text, weights, kSnippetWords);
      hits.push_back({std::move(found.id), std::move(found.title), std::move(found.text), std::move(snippet), "",
                      ranked.score, std::move(found.head)});
    }
    return {std::move(hits), {}, 0};
  }

  const fs::path path;
  const Bm25 parameters;
  std::string hash;
  double mean_length = 0;
  std::vector<std::uint32_t> lengths;
  std::mutex mutex;  // guards `free`
  std::vector<std::unique_ptr<Connection>> free;
};

SearchIndex::SearchIndex(const fs::path& index, const Bm25& parameters) {
  try {
    implementation_ = std::make_unique<Implementation>(index, parameters);
  } catch (const SQLite::Exception& exception) {
    if (exception.getErrorCode() == kNoDatabase) throw Error("{}", foreign_message(index));
    throw Error("{} ({})", damaged_message(index), exception.what());
  }
}

SearchIndex::~SearchIndex() = default;

SearchReply SearchIndex::search(const std::string& query, int top_k, double) {
  return implementation_->with_connection(
      [&](Connection& connection) { return implementation_->search(connection, query, top_k); });
}

Json SearchIndex::identity() const {
  return {{"engine", "index"},
          {"version", kIndexVersion},
          {"corpus", implementation_->hash},
          {"k1", implementation_->parameters.k1},
          {"b", implementation_->parameters.b}};
}

std::int64_t SearchIndex::documents() const { return std::ssize(implementation_->lengths); }

std::vector<RankedDocument> SearchIndex::rank(const std::string& query, int top_k) {
  return implementation_->with_connection(
      [&](Connection& connection) { return implementation_->rank(connection, query, top_k, nullptr); });
}

Document SearchIndex::document(std::uint32_t number) {
  return implementation_->with_connection(
      [&](Connection& connection) { return implementation_->document(connection, number); });
}

}  // namespace agon::tools
