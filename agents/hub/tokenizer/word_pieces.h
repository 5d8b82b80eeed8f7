// agents/hub/tokenizer/word_pieces.h - BERT's tokenizer: text cleaned, put in lower case without accents, split at
// white space and punctuation, and each word cut into the longest pieces of a vocabulary. Immutable, thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace agon::agents {

class WordPieces {
 public:
  // `vocabulary`: a vocab.txt with one piece per line, whose index is its id; pieces that continue a word begin with
  // "##". lower_case: the checkpoint's "do_lower_case", which also strips accents. Throws Error for a file that cannot
  // be read, repeats a piece, or lacks [UNK], [CLS] or [SEP].
  explicit WordPieces(const std::filesystem::path& vocabulary, bool lower_case = true);

  // [CLS] pieces [SEP], at most `most` ids: pieces at the end are dropped. A word is [UNK] if it has more than 100
  // characters or a part that no piece covers. Invalid UTF-8 bytes are dropped.
  std::vector<std::int64_t> encode(std::string_view text, std::size_t most) const;
  std::size_t size() const { return ids_.size(); }

 private:
  std::int64_t special(const std::string& piece, const std::filesystem::path& vocabulary) const;
  void append_pieces(std::string_view word, std::vector<std::int64_t>& ids) const;

  std::unordered_map<std::string, std::int64_t> ids_;
  bool lower_case_;
  std::int64_t unknown_ = 0, begin_ = 0, end_ = 0;
};

}  // namespace agon::agents
