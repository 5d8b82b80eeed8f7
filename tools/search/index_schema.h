// tools/search/index_schema.h - the tables of a search index (docs/tools.md), which its builder writes and its reader
// reads. Documents are numbered from 1 here, elsewhere from 0.
#pragma once

namespace agon::tools {

inline constexpr int kIndexApplicationId = 0x61676f69;  // PRAGMA application_id: "agoi"
inline constexpr int kIndexVersion = 4;                 // PRAGMA user_version

// documents: one row each; head is the first line of its contents where title and text do not give it
// (tools/search/corpus.h). search: FTS5 over their title and text, with tools/search/word_tokenizer.h, from which words
// was made. words: one row a word with its postings (tools/search/bm25.h). corpus: one row; lengths holds the words of
// each document, uint32 little-endian.
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
