#include "core/json_records.h"

#include <algorithm>
#include <cmath>
#include <istream>
#include <iterator>
#include <sstream>

#include "core/error.h"
#include "core/text.h"

namespace agon {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr double kLargestWhole = 9007199254740992.0;  // 2^53: a double beyond it may come from another whole number

// Removes members that are null and turns whole doubles into integers, at every depth.
void tidy(SortedJson& value) {
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (number == std::floor(number) && std::abs(number) <= kLargestWhole) value = static_cast<std::int64_t>(number);
  }
  if (value.is_object())
    for (auto member = value.begin(); member != value.end();)
      member = member->is_null() ? value.erase(member) : std::next(member);
  if (value.is_structured())
    for (SortedJson& member : value) tidy(member);
}

SortedJson parsed(std::string_view text) {
  ParsedJson result = parse_json_of_file(text);
  if (!result.fault.empty()) throw Error("{}", result.fault);
  return std::move(result.value);
}

std::string_view without_mark(std::string_view text) {
  return text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size()) : text;
}

// Whether an array of objects begins here; [1, 2] is not one.
bool begins_array(std::string_view text) {
  text = trim(text);
  if (!text.starts_with('[')) return false;
  text = trim(text.substr(1));
  return text.empty() || text.starts_with('{') || text.starts_with(']');
}

// A guess at the format of a file whose first line is not a record, and what to do; empty: unknown.
std::string advice_for(std::string_view line, const std::string& path) {
  if (line.starts_with('{') && !line.ends_with('}'))
    return fmt::format(". Is it one object over several lines? Write one a line: jq -c . {}", shell_word(path));
  if (!line.starts_with('{') && line.find(',') != line.npos)
    return fmt::format(
        ". Is it CSV? Write JSON lines, with pandas: python3 -c \"import sys, pandas; "
        "pandas.read_csv(sys.argv[1]).to_json(sys.argv[2], orient='records', lines=True)\" {} tasks.jsonl",
        shell_word(path));
  return {};
}

// The key of {"data": [{...}, ...]}, whose records are one level deeper; empty: not such an object.
std::string wrapping_key(const SortedJson& record) {
  if (!record.is_object() || record.size() != 1) return {};
  const auto only = record.begin();
  return only->is_array() && !only->empty() && only->front().is_object() ? only.key() : std::string();
}

// Runs work(), and puts the place in front of the text of an Error that it throws.
template <typename Work>
void at_place(const std::string& path, const RecordPlace& place, const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    throw Error("{}: {}", place.in(path), error.what());
  }
}

void visit_record(SortedJson& record, const RecordPlace& place, const VisitRecord& visit) {
  if (!record.is_object()) throw Error("not a JSON object {{...}}");
  tidy(record);
  visit(record, place);
}

void read_array(std::string_view content, const std::string& path, const VisitRecord& visit) {
  SortedJson records;
  try {
    records = parsed(content);
  } catch (const Error& error) {
    throw Error("{}: {}", path, error.what());
  }
  for (std::size_t i = 0; i < records.size(); ++i) {
    const RecordPlace place{true, i};
    at_place(path, place, [&] { visit_record(records[i], place, visit); });
  }
}

void read_first_line(std::string_view line, const std::string& path, const VisitRecord& visit,
                     const RecordPlace& place) {
  ParsedJson result = parse_json_of_file(line);
  if (!result.fault.empty()) throw Error("{}{}", result.fault, advice_for(line, path));
  const std::string wrapping = wrapping_key(result.value);
  try {
    visit_record(result.value, place, visit);
  } catch (const Error& error) {
    if (wrapping.empty()) throw;
    throw Error("{}. Are the records in its \"{}\"? Write them one a line: jq -c {} {}", error.what(), wrapping,
                shell_word(fmt::format(".[\"{}\"][]", wrapping)), shell_word(path));
  }
}

}  // namespace

std::string RecordPlace::text() const { return fmt::format("{} {}", in_array ? "item" : "line", number); }

std::string RecordPlace::in(const std::string& path) const {
  return in_array ? fmt::format("{}, {}", path, text()) : fmt::format("{}:{}", path, number);
}

void read_records(std::istream& input, const std::string& path, const VisitRecord& visit) {
  bool first = true;  // no record yet
  std::string text;
  for (RecordPlace place{false, 1}; std::getline(input, text); ++place.number) {
    if (place.number == 1) refuse_other_formats(path, text);
    const std::string_view line = trim(place.number == 1 ? without_mark(text) : std::string_view(text));
    if (line.empty()) continue;
    if (first && begins_array(line)) {
      const std::string rest{std::istreambuf_iterator<char>(input), {}};
      return read_array(fmt::format("{}\n{}", line, rest), path, visit);
    }
    at_place(path, place, [&] {
      if (first) return read_first_line(line, path, visit, place);
      SortedJson record = parsed(line);
      visit_record(record, place, visit);
    });
    first = false;
  }
  if (input.bad()) throw Error("{}: cannot be read to its end.", path);
}

void read_records(std::string_view content, const std::string& path, const VisitRecord& visit) {
  std::istringstream input{std::string(content)};
  read_records(input, path, visit);
}

SortedJson read_value(std::string_view content, const std::string& path) {
  refuse_other_formats(path, content);
  if (trim(without_mark(content)).empty()) throw Error("{}: is empty, and should hold JSON.", path);
  try {
    SortedJson value = parsed(without_mark(content));
    tidy(value);
    return value;
  } catch (const Error& error) {
    throw Error("{}: {}", path, error.what());
  }
}

}  // namespace agon
