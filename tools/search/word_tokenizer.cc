// Based on the tokenizer API of FTS5.
#include "tools/search/word_tokenizer.h"

#include <sqlite3.h>

#include <algorithm>
#include <limits>

#include "core/error.h"
#include "tools/search/words.h"

namespace agon::tools {
namespace {

constexpr const char* kWordsName = "agon_words";  // part of kTokenizer
constexpr int kLongestWord = 32768;               // FTS5_MAX_TOKEN_SIZE: FTS5 cuts longer words

fts5_api* api_of(sqlite3* database) {
  fts5_api* api = nullptr;
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database, "SELECT fts5(?1)", -1, &statement, nullptr) == SQLITE_OK) {
    sqlite3_bind_pointer(statement, 1, &api, "fts5_api_ptr", nullptr);
    sqlite3_step(statement);
  }
  sqlite3_finalize(statement);
  if (!api) throw Error("search: this SQLite has no FTS5. Use one that is built with SQLITE_ENABLE_FTS5.");
  return api;
}

// ---- the words of words.h as a tokenizer that FTS5 knows by name

int create_words(void*, const char**, int, Fts5Tokenizer** made) {
  try {
    *made = reinterpret_cast<Fts5Tokenizer*>(new Words());
    return SQLITE_OK;
  } catch (...) {
    return SQLITE_NOMEM;
  }
}

void delete_words(Fts5Tokenizer* words) { delete reinterpret_cast<Words*>(words); }

using TakeToken = int (*)(void* context, int flags, const char* word, int size, int begin, int end);
struct Receiver {
  TakeToken take;
  void* context;
  int result = SQLITE_OK;
};

bool hand_on(void* context, std::string_view word, std::size_t begin, std::size_t end) {
  auto& receiver = *static_cast<Receiver*>(context);
  receiver.result = receiver.take(receiver.context, 0, word.data(), static_cast<int>(word.size()),
                                  static_cast<int>(begin), static_cast<int>(end));
  return receiver.result == SQLITE_OK;
}

int tokenize_words(Fts5Tokenizer* words, void* context, int, const char* text, int size, TakeToken take) {
  Receiver receiver{take, context};
  try {
    reinterpret_cast<Words*>(words)->for_each({text, static_cast<std::size_t>(std::max(size, 0))}, hand_on, &receiver);
    return receiver.result;
  } catch (...) {  // no exception may pass through SQLite, which is C
    return SQLITE_ERROR;
  }
}

int visit_token(void* context, int, const char* word, int size, int begin, int end) {
  const auto& visit = *static_cast<const WordTokenizer::Visit*>(context);
  const std::string_view kept(word, static_cast<std::size_t>(std::min(size, kLongestWord)));
  return visit(kept, static_cast<std::size_t>(begin), static_cast<std::size_t>(end)) ? SQLITE_OK : SQLITE_DONE;
}

}  // namespace

struct WordTokenizer::Implementation {
  fts5_tokenizer functions{};
  Fts5Tokenizer* tokenizer = nullptr;
};

void add_tokenizer(sqlite3* database) {
  fts5_api* api = api_of(database);
  fts5_tokenizer functions{create_words, delete_words, tokenize_words};
  if (api->xCreateTokenizer(api, kWordsName, nullptr, &functions, nullptr) != SQLITE_OK)
    throw Error("search: SQLite's FTS5 rejects the tokenizer: {}.", sqlite3_errmsg(database));
}

WordTokenizer::WordTokenizer(sqlite3* database) : implementation_(std::make_unique<Implementation>()) {
  add_tokenizer(database);
  fts5_api* api = api_of(database);
  void* user = nullptr;
  const char* base = kWordsName;
  if (api->xFindTokenizer(api, "porter", &user, &implementation_->functions) != SQLITE_OK ||
      implementation_->functions.xCreate(user, &base, 1, &implementation_->tokenizer) != SQLITE_OK)
    throw Error("search: SQLite's FTS5 has no tokenizer '{}'.", kTokenizer);
}

WordTokenizer::~WordTokenizer() { implementation_->functions.xDelete(implementation_->tokenizer); }

void WordTokenizer::tokenize(std::string_view text, const Visit& visit) {
  const auto size = static_cast<int>(std::min<std::size_t>(text.size(), std::numeric_limits<int>::max() / 2));
  const int result = implementation_->functions.xTokenize(implementation_->tokenizer, const_cast<Visit*>(&visit),
                                                          FTS5_TOKENIZE_QUERY, text.data(), size, visit_token);
  if (result != SQLITE_OK && result != SQLITE_DONE)
    throw Error("search: the words of a text cannot be found. Is ICU's data installed?");
}

}  // namespace agon::tools
