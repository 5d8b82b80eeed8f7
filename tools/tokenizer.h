// tools/tokenizer.h - the words of a text as SQLite's FTS5 sees them with tokenize = 'porter unicode61': lower case
// without accents, stems of English. Any bytes are a text. Not thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

struct sqlite3;

namespace agon::tools {

inline constexpr const char* kTokenizer = "porter unicode61";

class Tokenizer {
 public:
  // The tokenizer of that connection, which must outlive it. Throws Error where SQLite has no FTS5.
  explicit Tokenizer(sqlite3* database);
  ~Tokenizer();
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  // Calls visit(word, begin, end) for each word of the text, in order; [begin, end) are its bytes there. visit returns
  // false to stop.
  using Visit = std::function<bool(std::string_view word, std::size_t begin, std::size_t end)>;
  void tokenize(std::string_view text, const Visit& visit);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace agon::tools
