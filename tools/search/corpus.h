// tools/search/corpus.h - reads the documents of a corpus, one JSON object per line: in Search-R1's form
// {"id": "1", "contents": "\"Title\"\ntext"}, or {"id": "1", "title": "Title", "text": "text"}. If an object
// has "contents" and "title", the title is used. The id ("id" or "_id") may be a text or a number; without one, it is
// the number of the line from 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace agon::tools {

struct Document {
  std::string id, title, text;
  // The first line of the original contents; set only if contents_of(title, text) would not reproduce them.
  std::optional<std::string> head;
  bool operator==(const Document&) const = default;
};

// Parses one line of a corpus; a text says what is wrong with the line. number: of the line, from 1.
std::variant<Document, std::string> parse_document(std::string_view line, std::int64_t number);

// The contents: "\"Title\"\ntext"; only the text if the title is empty; "head\ntext" if there is a head.
std::string contents_of(const std::string& title, const std::string& text,
                        const std::optional<std::string>& head = std::nullopt);
// The inverse of contents_of, exact to the byte. The title is the first line, with or without quotation marks around
// it, if that has at most 300 bytes and other lines follow; otherwise there is no title.
struct SplitContents {
  std::string title, text;
  std::optional<std::string> head;
};
SplitContents split_contents(std::string_view contents);

}  // namespace agon::tools
