// tools/index_schema.h - the tables of a search index (docs/tools.md). A document's number is its rowid less 1.
#pragma once

namespace agon::tools {

// documents: FTS5. words: one row a word with its postings (tools/bm25.h). corpus: one row; lengths holds the words of
// each document, uint32 little-endian.
inline constexpr const char* kIndexSchema = R"sql(
CREATE VIRTUAL TABLE documents USING fts5(id UNINDEXED, title, text, tokenize = 'porter unicode61');
CREATE TABLE words (word TEXT PRIMARY KEY, documents INTEGER NOT NULL, postings BLOB NOT NULL) STRICT;
CREATE TABLE corpus (hash TEXT NOT NULL, documents INTEGER NOT NULL, words INTEGER NOT NULL, broken INTEGER NOT NULL,
  lengths BLOB NOT NULL) STRICT;
)sql";

}  // namespace agon::tools
