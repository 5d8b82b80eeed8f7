// tools/search/index_builder.h - makes the file of a search index (tools/search/search_index.h) from a corpus
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
  std::int64_t documents = 0, words = 0, vocabulary = 0;  // words: of all documents; vocabulary: different ones
  std::int64_t broken = 0;                                // lines that were left out,
  std::vector<BrokenLine> first_broken;                   // and the first of them
  std::string corpus_hash;                                // of the documents in their order
};

// Reads `corpus` once and writes `index`, whole or not at all; the only file that it replaces is another index. The
// file grows as INDEX.partial, which a killed process leaves behind and the next one replaces. Memory grows with the
// corpus by 16 bytes a document only. Broken lines are left out and reported; throws Error where more than a tenth are,
// no document is left, two documents have one id, and where a file cannot be read or written. progress(what, done,
// total) is called now and then: "MB" of the corpus, then "million words" (total 0: unknown).
using IndexProgress = std::function<void(const std::string& what, std::int64_t done, std::int64_t total)>;
IndexReport build_search_index(const std::filesystem::path& corpus, const std::filesystem::path& index,
                               const IndexProgress& progress = {});

}  // namespace agon::tools
