// core/json_parse.h - one bounded parser for JSON that a model, a server, a user's file or an earlier run wrote.
// Nesting, keys and the number of values are limited: a value nested 100,000 deep would parse, then end the process
// when printed, and an ordered object of 100,000 keys takes a minute. Also here: the one way to take a text from such
// an object, and how messages show the texts of others.
#pragma once

#include <string>
#include <string_view>

#include "core/json.h"

namespace agon {

inline constexpr int kDeepestJson = 100, kMostJsonKeys = 10'000;  // keys: of one object

// Throws Error "not JSON: ...", with the place of the fault, or which of the bounds the text passes.
Json json_of(std::string_view text);
Json json_or_discarded(std::string_view text);  // is_discarded() where json_of throws

// Keys sorted: the ordered object of core/json.h takes quadratic time to fill, and such a text is not to be trusted.
using SortedJson = nlohmann::json;

struct ParsedJson {
  SortedJson value;
  std::string fault;  // what is wrong with the text; empty: nothing
};
ParsedJson parse_json(std::string_view text, int deepest = 32, int most_values = 10'000'000);

// JSON of a user's file: a key given twice is a fault as well, and the fault says in which line (of several) and column
// it is and, of what other programs write, what JSON has in its place. A number whose digits a double does not hold is
// the text that was written.
ParsedJson parse_json_of_file(std::string_view text);
// Throws Error, with the way to convert it, where a file that should hold JSON begins as one of another format:
// Parquet, UTF-16 or 32, compressed, a Git LFS pointer.
void refuse_other_formats(const std::string& path, std::string_view start);

// The text that an object, a Json or a SortedJson, holds at `key`. Throws Error: no "key"; "key" is 3, not a text.
template <typename AnyJson>
std::string text_at(const AnyJson& object, const std::string& key);
// The same; `otherwise` where the key is not there, or null.
template <typename AnyJson>
std::string text_at(const AnyJson& object, const std::string& key, const std::string& otherwise);
// The same as the first; a text of white space alone is refused too.
template <typename AnyJson>
std::string filled_text_at(const AnyJson& object, const std::string& key);
// The text there; empty for anything else, also where `json` is not an object.
template <typename AnyJson>
std::string text_or_empty(const AnyJson& json, const std::string& key);

// The value in a message: one line, cut to about 60 bytes.
std::string shown(const SortedJson& value);
std::string shown(const Json& value);
// Text of others in a message: its first bytes, white space as blanks, other control characters and bytes that are no
// UTF-8 replaced.
std::string shown_text(std::string_view text, std::size_t most = 60);

}  // namespace agon
