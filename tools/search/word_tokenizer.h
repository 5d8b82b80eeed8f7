// tools/search/word_tokenizer.h - the words of a text as an index holds them: as tools/search/words.h finds them,
// English words as stems (FTS5's porter). Any bytes are a text. Not thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

struct sqlite3;

namespace agon::tools {

inline constexpr const char* kTokenizer = "porter agon_words";

// Registers kTokenizer with FTS5 of that connection; call it before a table that uses it is opened. Throws Error where
// SQLite has no FTS5.
void add_tokenizer(sqlite3* database);

class WordTokenizer {
 public:
  // The tokenizer of that connection, which must outlive it. Throws as add_tokenizer.
  explicit WordTokenizer(sqlite3* database);
  ~WordTokenizer();
  WordTokenizer(const WordTokenizer&) = delete;
  WordTokenizer& operator=(const WordTokenizer&) = delete;

  // Calls visit(word, begin, end) for each word of the text, in order; [begin, end) are its bytes there. visit returns
  // false to stop.
  using Visit = std::function<bool(std::string_view word, std::size_t begin, std::size_t end)>;
  void tokenize(std::string_view text, const Visit& visit);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace agon::tools
