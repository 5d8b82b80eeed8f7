// tools/search/search_index.h - SearchIndex, a local search engine over a corpus in one SQLite file, ranked by BM25.
// tools/search/index_builder.h makes the file. At build time FTS5 lists the words of each document
// (tools/search/word_tokenizer.h); at search time agon itself ranks (tools/search/bm25.h), over postings in the same
// file. docs/tools.md has the tables.
//   build_search_index("docs.jsonl", "docs.index");
//   SearchReply reply = SearchIndex("docs.index").search("who wrote it?", 3, 1);
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tools/search/bm25.h"
#include "tools/search/corpus.h"
#include "tools/search/search.h"

namespace agon::tools {

// Only reads the file, with one connection per thread that searches at a time.
class SearchIndex : public SearchBackend {
 public:
  // Throws Error if there is no index or it is damaged.
  explicit SearchIndex(const std::filesystem::path& index, const Bm25& parameters = {});
  ~SearchIndex() override;

  // Uses at most 128 different words, from the first 64 KiB of the query. Fails (bad_arguments) if several hits hold
  // more than 32 MiB together. Ignores `seconds`.
  SearchReply search(const std::string& query, int top_k, double seconds) override;
  Json identity() const override;

  std::int64_t documents() const;
  // The numbers of the best documents, from 0 in the order of the corpus, and their scores. Throws Error for a damaged
  // file.
  std::vector<RankedDocument> rank(const std::string& query, int top_k);
  Document document(std::uint32_t number);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace agon::tools
