// tools/search/search_index.h - a corpus in one SQLite file, searched by BM25. FTS5 sorts the words of the documents
// (tools/search/word_tokenizer.h); ranking is our own (tools/search/bm25.h) over postings that stand beside it. docs/tools.md has the
// tables.
//   build_search_index("docs.jsonl", "docs.index");
//   SearchReply reply = SearchIndex("docs.index").search("who wrote it?", 3, 1);
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tools/search/bm25.h"
#include "tools/search/corpus.h"
#include "tools/search/search.h"

namespace agon::tools {

inline constexpr int kIndexApplicationId = 0x61676f69;  // PRAGMA application_id: "agoi"
inline constexpr int kIndexVersion = 3;                 // PRAGMA user_version

struct BrokenLine {
  std::int64_t line = 0;  // from 1
  std::string fault;
};

struct IndexReport {
  std::int64_t documents = 0, words = 0, vocabulary = 0;  // words: of all documents; vocabulary: different ones
  std::int64_t broken = 0;                                // lines that were left out,
  std::vector<BrokenLine> first_broken;                   // and the first of them
  std::string corpus_hash;                                // of the documents in their order
};

// Reads `corpus` once and writes `index`, in the place of an index alone, which is there whole or not at all: the file
// grows as INDEX.partial, which a killed process leaves behind and the next one replaces. Memory does not grow with the
// corpus but for 16 bytes a document. Broken lines are left out and reported; throws Error where more than a tenth are,
// no document is left, two documents have one id, and where a file cannot be read or written. progress(what, done,
// total) is called now and then: "MB" of the corpus, then "million words" (total 0: unknown).
using IndexProgress = std::function<void(const std::string& what, std::int64_t done, std::int64_t total)>;
IndexReport build_search_index(const std::filesystem::path& corpus, const std::filesystem::path& index,
                               const IndexProgress& progress = {});

// Only reads the file; a connection a thread that searches.
class SearchIndex : public SearchBackend {
 public:
  // Throws Error where there is no index, or a damaged one.
  explicit SearchIndex(const std::filesystem::path& index, const Bm25& parameters = {});
  ~SearchIndex() override;

  // Words are looked for in the first 64 KiB of the query, at most 128 different ones. Fails (bad_arguments) where
  // several hits hold more than 32 MiB together.
  SearchReply search(const std::string& query, int top_k, double seconds) override;
  Json identity() const override;

  std::int64_t documents() const;
  // The numbers of documents, from 0 in the order of the corpus, and their scores; throws Error for a damaged file.
  std::vector<RankedDocument> rank(const std::string& query, int top_k);
  Document document(std::uint32_t number);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace agon::tools
