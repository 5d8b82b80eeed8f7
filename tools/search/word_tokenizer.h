// tools/search/word_tokenizer.h - splits a text into words in the form that an index stores: the words that
// tools/search/words.h finds, with English words reduced to stems (FTS5's porter). A text may be any bytes. Not
// thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

struct sqlite3;

namespace agon::tools {

inline constexpr const char* kTokenizer = "porter agon_words";

// Registers kTokenizer with FTS5 of the connection; call it before opening a table that uses it. Throws Error if SQLite
// has no FTS5.
void add_tokenizer(sqlite3* database);

class WordTokenizer {
 public:
  // The tokenizer of a connection, which must outlive the tokenizer. Throws as add_tokenizer does.
  explicit WordTokenizer(sqlite3* database);
  ~WordTokenizer();
  WordTokenizer(const WordTokenizer&) = delete;
  WordTokenizer& operator=(const WordTokenizer&) = delete;

  // Calls visit(word, begin, end) for each word of the text, in order; [begin, end) are its bytes in the text. visit
  // returns false to stop.
  using Visit = std::function<bool(std::string_view word, std::size_t begin, std::size_t end)>;
  void tokenize(std::string_view text, const Visit& visit);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace agon::tools
