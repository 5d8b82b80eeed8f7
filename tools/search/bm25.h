// tools/search/bm25.h - ranks documents for a query by BM25, over compressed postings. A document's score is the sum
// over the words of the query of
//   idf x tf / (tf + k1 (1 - b + b length / mean length)),   idf = ln(1 + (N - n + 0.5) / (n + 0.5))
// as in Lucene, where idf is never negative, even for common words. tf: occurrences of the word in the document; n:
// number of documents with the word; N: number of all documents; lengths are in words. A word that the query has twice
// counts twice.
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

// Writes the postings of one word: (document, occurrences), in ascending order of documents, about 1.3 bytes each.
class PostingsWriter {
 public:
  // REQUIRES: document is greater than the previous one; count > 0.
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
  double weight = 0;  // idf x occurrences in the query
};
struct RankedDocument {
  std::uint32_t document = 0;
  double score = 0;
  bool operator==(const RankedDocument&) const = default;
};

// The best top_k documents with any of the words, best first; ties: the earlier document first. lengths: number of
// words of each document. Damaged postings can only give wrong documents, all of them below lengths.size().
std::vector<RankedDocument> rank_bm25(std::span<const QueryWord> words, std::span<const std::uint32_t> lengths,
                                      double mean_length, const Bm25& parameters, std::size_t top_k);

}  // namespace agon::tools
