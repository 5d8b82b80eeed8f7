// FTS5's tokenizer API of the connection.
#include "tools/tokenizer.h"

#include <sqlite3.h>

#include <algorithm>
#include <limits>

#include "core/error.h"

namespace agon::tools {
namespace {

constexpr int kLongestWord = 32768;  // FTS5_MAX_TOKEN_SIZE: what it keeps of a longer one

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

int visit_token(void* context, int, const char* word, int size, int begin, int end) {
  const auto& visit = *static_cast<const Tokenizer::Visit*>(context);
  const std::string_view kept(word, static_cast<std::size_t>(std::min(size, kLongestWord)));
  return visit(kept, static_cast<std::size_t>(begin), static_cast<std::size_t>(end)) ? SQLITE_OK : SQLITE_DONE;
}

}  // namespace

struct Tokenizer::Implementation {
  fts5_tokenizer functions{};
  Fts5Tokenizer* tokenizer = nullptr;
};

Tokenizer::Tokenizer(sqlite3* database) : implementation_(std::make_unique<Implementation>()) {
  fts5_api* api = api_of(database);
  void* user = nullptr;
  const char* base = "unicode61";
  if (api->xFindTokenizer(api, "porter", &user, &implementation_->functions) != SQLITE_OK ||
      implementation_->functions.xCreate(user, &base, 1, &implementation_->tokenizer) != SQLITE_OK)
    throw Error("search: SQLite's FTS5 has no tokenizer '{}'.", kTokenizer);
}

Tokenizer::~Tokenizer() { implementation_->functions.xDelete(implementation_->tokenizer); }

void Tokenizer::tokenize(std::string_view text, const Visit& visit) {
  const auto size = static_cast<int>(std::min<std::size_t>(text.size(), std::numeric_limits<int>::max() / 2));
  implementation_->functions.xTokenize(implementation_->tokenizer, const_cast<Visit*>(&visit), FTS5_TOKENIZE_QUERY,
                                       text.data(), size, visit_token);
}

}  // namespace agon::tools
