// tools/search/index_schema.h - the tables of a search index file (docs/tools.md), for its builder and its reader. The
// tables number documents from 1; all other code numbers them from 0.
#pragma once

namespace agon::tools {

inline constexpr int kIndexApplicationId = 0x61676f69;  // PRAGMA application_id: "agoi"
inline constexpr int kIndexVersion = 4;                 // PRAGMA user_version

// documents: one row per document; head: Document::head (tools/search/corpus.h). search: FTS5 over their title and text
// with the tokenizer of tools/search/word_tokenizer.h; `words` is made from it. words: one row per word with its
// postings (tools/search/bm25.h). corpus: one row; lengths: number of words of each document, uint32 little-endian.
inline constexpr const char* kIndexSchema = R"sql(
CREATE TABLE documents (number INTEGER PRIMARY KEY, id TEXT NOT NULL, title TEXT NOT NULL, text TEXT NOT NULL, head TEXT)
  STRICT;
CREATE VIRTUAL TABLE search USING fts5(title, text, content = 'documents', content_rowid = 'number',
  tokenize = 'porter agon_words');
CREATE TABLE words (word TEXT PRIMARY KEY, documents INTEGER NOT NULL, postings BLOB NOT NULL) STRICT;
CREATE TABLE corpus (hash TEXT NOT NULL, documents INTEGER NOT NULL, words INTEGER NOT NULL, broken INTEGER NOT NULL,
  lengths BLOB NOT NULL) STRICT;
)sql";

}  // namespace agon::tools
