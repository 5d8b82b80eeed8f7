#include "env/suites/task_file.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/text.h"

namespace agon::env {
namespace {

using tools::SortedJson;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr double kLargestWhole = 9007199254740992.0;  // 2^53: a double beyond it may stand for another whole number

// Nulls go, and whole numbers are whole, however deep.
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

// An array of objects; "[1, 2]" is a line that is none.
bool is_array_of_objects(std::string_view content) {
  content = trim(content);
  if (!content.starts_with('[')) return false;
  content = trim(content.substr(1));
  return content.starts_with('{') || content.starts_with(']');
}

SortedJson parsed(std::string_view text) {
  tools::ParsedJson result = tools::parse_json_of_file(text);
  if (!result.fault.empty()) throw Error("{}", result.fault);
  return std::move(result.value);
}

// Runs work(), with the place before what it throws.
template <typename Work>
void at_place(const std::string& path, const TaskPlace& place, PlaceText where, const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    throw Error("{}: {}", where(path, place), error.what());
  }
}

void visit_item(SortedJson& item, const TaskPlace& place, std::string_view text, const VisitTask& visit) {
  if (!item.is_object()) throw Error("not a JSON object {...}");
  tidy(item);
  visit(item, place, text);
}

void read_array(const std::string& path, std::string_view content, PlaceText where, const VisitTask& visit) {
  SortedJson items;
  try {
    items = parsed(content);
  } catch (const Error& error) {
    throw Error("{}: {}", path, error.what());
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    const TaskPlace place{true, i};
    at_place(path, place, where, [&] { visit_item(items[i], place, items[i].dump(), visit); });
  }
}

void read_lines(const std::string& path, std::string_view content, PlaceText where, const VisitTask& visit) {
  for (TaskPlace place{false, 1}; !content.empty(); ++place.number) {
    const std::size_t end = std::min(content.find('\n'), content.size());
    const std::string_view line = trim(content.substr(0, end));
    content.remove_prefix(std::min(end + 1, content.size()));
    if (line.empty()) continue;
    at_place(path, place, where, [&] {
      SortedJson item = parsed(line);
      visit_item(item, place, line, visit);
    });
  }
}

}  // namespace

std::string TaskPlace::text() const { return fmt::format("{} {}", in_array ? "item" : "line", number); }

void read_tasks_of(const std::string& path, std::string_view content, PlaceText where, const VisitTask& visit) {
  tools::refuse_other_formats(path, content);
  if (content.starts_with(kByteOrderMark)) content.remove_prefix(kByteOrderMark.size());
  if (is_array_of_objects(content))
    read_array(path, content, where, visit);
  else
    read_lines(path, content, where, visit);
}

void check_picture_marks(std::string_view prompt, std::size_t pictures) {
  std::size_t marks = 0;
  for (std::size_t at = 0; (at = prompt.find(kPictureMark, at)) != prompt.npos; at += kPictureMark.size()) ++marks;
  if (marks != 0 && marks != pictures)
    throw Error("the text places {} pictures with {}, and the task has {}. Write the mark once a picture, or nowhere",
                marks, kPictureMark, pictures);
}

}  // namespace agon::env
