// tools/search/search_index.h - a corpus in one SQLite file (tools/search/index_builder.h makes it), searched by BM25.
// FTS5 sorts the words of the documents (tools/search/word_tokenizer.h); ranking is our own (tools/search/bm25.h) over
// postings stored next to it. docs/tools.md has the tables.
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
