// tools/search/bm25.h - BM25 over compressed postings. A document's score is the sum over the words of the query of
//   idf x tf / (tf + k1 (1 - b + b length / mean length)),   idf = ln(1 + (N - n + 0.5) / (n + 0.5))
// as in Lucene: never negative, however common the word. tf: times in the document; n: documents with the word, of N;
// lengths in words. A word that stands twice in the query counts twice.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace agon::tools {

struct Bm25 {
  double k1 = 0.9, b = 0.4;  // Pyserini's; 1.2 and 0.75 are Lucene's own
};

// The documents of one word: (document, times in it), in rising order of documents, about 1.3 bytes each.
class PostingsWriter {
 public:
  // REQUIRES: document is above the one before; count > 0.
  void add(std::uint32_t document, std::uint32_t count);
  std::uint32_t documents() const { return documents_; }
  const std::string& bytes() const { return bytes_; }
  void clear();

 private:
  std::string bytes_;
  std::uint32_t next_ = 0, documents_ = 0;
};

double lucene_idf(std::uint64_t documents, std::uint64_t documents_with_word);

struct QueryWord {
  std::string_view postings;
  double weight = 0;  // idf x times in the query
};
struct RankedDocument {
  std::uint32_t document = 0;
  double score = 0;
  bool operator==(const RankedDocument&) const = default;
};

// The best top_k documents with any of the words, best first; of equal scores the earlier document. lengths: one a
// document, in words. Damaged postings give wrong documents below lengths.size(), no worse.
std::vector<RankedDocument> rank_bm25(std::span<const QueryWord> words, std::span<const std::uint32_t> lengths,
                                      double mean_length, const Bm25& parameters, std::size_t top_k);

}  // namespace agon::tools
