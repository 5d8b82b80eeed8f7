// tools/search/corpus.h - a corpus to search, one JSON object a line: {"id": "1", "contents": "\"Title\"\ntext"} as
// Search-R1 has it, or {"id": "1", "title": "Title", "text": "text"}; a title next to contents counts, too. An id may
// be a text or a number; without one the document is called by its line, counted from 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace agon::tools {

struct Document {
  std::string id, title, text;
  std::optional<std::string> head;  // the first line of its contents, where contents_of(title, text) has another one
  bool operator==(const Document&) const = default;
};

// One line of a corpus, or what is wrong with it. number: of the line, from 1.
std::variant<Document, std::string> parse_document(std::string_view line, std::int64_t number);

// "\"Title\"\ntext"; the text alone without a title; "head\ntext" with a head.
std::string contents_of(const std::string& title, const std::string& text,
                        const std::optional<std::string>& head = std::nullopt);
// The other way round: title, text and head of contents, to the byte. A first line of at most 300 bytes before others
// is the title, with or without quotation marks around it.
struct SplitContents {
  std::string title, text;
  std::optional<std::string> head;
};
SplitContents split_contents(std::string_view contents);

}  // namespace agon::tools
