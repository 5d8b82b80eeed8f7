// core/json_records.h - reads files of JSON objects as people and tools write them: one object per line, or one array
// of them. A byte-order mark, CRLF and empty lines are accepted. null means absent, and 2.0 means 2. A number with more
// digits than a double holds is kept as the text that was written.
#pragma once

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

#include "core/json_parse.h"

namespace agon {

struct RecordPlace {
  bool in_array = false;
  std::size_t number = 0;                         // of the line, from 1; of the item, from 0
  std::string text() const;                       // "line 3", "item 2"
  std::string in(const std::string& path) const;  // "tasks.jsonl:3", "tasks.json, item 2"
};

// Calls visit(record, place) for each object of `input`, line by line; `path` is the file's name in messages. Throws
// Error that begins with the place: for a record that is not a JSON object or has a key twice, for another format (with
// the way to convert it), and for an Error of visit.
using VisitRecord = std::function<void(const SortedJson& record, const RecordPlace& place)>;
void read_records(std::istream& input, const std::string& path, const VisitRecord& visit);
void read_records(std::string_view content, const std::string& path, const VisitRecord& visit);

// Reads a file, or part of one, that holds one JSON value on any number of lines. Throws Error that begins with `path`.
SortedJson read_value(std::string_view content, const std::string& path);

}  // namespace agon
