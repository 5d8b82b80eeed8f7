// tools/search/index_builder.h - builds a search index file (tools/search/search_index.h) from a corpus
// (tools/search/corpus.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace agon::tools {

struct BrokenLine {
  std::int64_t line = 0;  // from 1
  std::string fault;
};

struct IndexReport {
  std::int64_t documents = 0, words = 0, vocabulary = 0;  // words: in all documents; vocabulary: different words
  std::int64_t broken = 0;                                // number of lines that were skipped
  std::vector<BrokenLine> first_broken;                   // the first few of these lines
  std::string corpus_hash;                                // of the documents in their order
};

// Reads `corpus` once and writes `index` completely or not at all; it overwrites only an existing index or an empty
// file. The file grows as INDEX.partial, which a killed process leaves behind and the next one replaces. Memory grows
// with the corpus by only 16 bytes per document. Broken lines are skipped and reported. Throws Error if more than a
// tenth of the lines are broken, no document is left, two documents have the same id, or a file cannot be read or
// written. Calls progress(what, done, total) from time to time: "MB" of the corpus, then "million words" (total 0:
// unknown).
using IndexProgress = std::function<void(const std::string& what, std::int64_t done, std::int64_t total)>;
IndexReport build_search_index(const std::filesystem::path& corpus, const std::filesystem::path& index,
                               const IndexProgress& progress = {});

}  // namespace agon::tools
