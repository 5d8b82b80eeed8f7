// core/json_parse.h - one bounded parser for JSON that a model, a server, a user's file or an earlier run wrote.
// Nesting, keys and the number of values are limited: a value nested 100,000 deep would parse, then end the process
// when printed, and an ordered object of 100,000 keys takes a minute. Also here: the one way to take a string from such
// an object, and how messages show untrusted text.
#pragma once

#include <string>
#include <string_view>

#include "core/json.h"

namespace agon {

inline constexpr int kDeepestJson = 100, kMostJsonKeys = 10'000;  // keys: of one object

// Throws Error "not JSON: ...", with the place of the fault, or with the limit that the text exceeds.
Json json_of(std::string_view text);
Json json_or_discarded(std::string_view text);  // is_discarded() if json_of throws

// Sorted keys, for untrusted texts: the ordered object of core/json.h takes quadratic time to fill.
using SortedJson = nlohmann::json;

struct ParsedJson {
  SortedJson value;
  std::string fault;  // what is wrong with the text; empty: nothing
};
ParsedJson parse_json(std::string_view text, int deepest = 32, int most_values = 10'000'000);

// Parses JSON of a user's file. A key given twice is a fault as well. The fault names line (if there are several) and
// column and, for notations of other programs, says what JSON has in their place. A number with more digits than a
// double holds becomes a string with its text, except for fractions in a list.
ParsedJson parse_json_of_file(std::string_view text);
// Throws Error, which says how to convert the file, if a file that should hold JSON begins as another format: Parquet,
// UTF-16 or 32, compressed, a Git LFS pointer.
void refuse_other_formats(const std::string& path, std::string_view start);

// The string at `key` of an object, a Json or a SortedJson. Throws Error: no "key"; "key" is 3, not a text.
template <typename AnyJson>
std::string text_at(const AnyJson& object, const std::string& key);
// The same; `otherwise` if the key is absent or its value is null.
template <typename AnyJson>
std::string text_at(const AnyJson& object, const std::string& key, const std::string& otherwise);
// Like the first; a string of white space alone is refused too.
template <typename AnyJson>
std::string filled_text_at(const AnyJson& object, const std::string& key);
// The string at `key`; empty for anything else, also if `json` is not an object.
template <typename AnyJson>
std::string text_or_empty(const AnyJson& json, const std::string& key);

// A value for a message: one line, cut to about 60 bytes.
std::string shown(const SortedJson& value);
std::string shown(const Json& value);
// Untrusted text for a message: quoted and cut to about `most` bytes, control characters as blanks, invalid UTF-8
// replaced.
std::string shown_text(std::string_view text, std::size_t most = 60);

}  // namespace agon
