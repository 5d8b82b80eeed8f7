#include "tools/search/corpus.h"

#include <fmt/format.h>

#include <cmath>

#include "core/error.h"
#include "core/json_parse.h"
#include "core/text.h"

namespace agon::tools {
namespace {

constexpr std::size_t kLongestTitle = 300;

std::string_view without_quotes(std::string_view title) {
  const bool quoted = title.size() >= 2 && title.front() == '"' && title.back() == '"';
  return quoted ? title.substr(1, title.size() - 2) : title;
}

bool has(const SortedJson& line, const char* key) { return line.contains(key) && !line[key].is_null(); }

std::string id_of(const SortedJson& line, std::int64_t number) {
  for (const char* key : {"id", "_id"}) {
    if (!has(line, key)) continue;
    const SortedJson& id = line[key];
    if (id.is_number_float() && id == std::floor(id.get<double>())) return fmt::format("{:.0f}", id.get<double>());
    return id.is_number_integer() ? id.dump() : text_at(line, key);
  }
  return std::to_string(number - 1);
}

// title: the document's own title; empty: none. Contents that begin with the same title are split as usual.
void set_contents(Document& document, const std::string& contents, const std::string& title) {
  SplitContents split = split_contents(contents);
  if (!title.empty() && split.title != title) split = {title, contents, {}};
  document.title = std::move(split.title);
  document.text = std::move(split.text);
  document.head = std::move(split.head);
}

Document document_of(const SortedJson& line, std::int64_t number) {
  if (!line.is_object()) throw Error("not a JSON object but {}", shown(line));
  Document document{id_of(line, number), {}, {}, {}};
  if (has(line, "contents")) {
    set_contents(document, text_at(line, "contents"), text_at(line, "title", ""));
  } else {
    document.title = text_at(line, "title", "");
    document.text = text_at(line, "text", "");
  }
  if (trim(document.title).empty() && trim(document.text).empty())
    throw Error("no \"contents\", \"title\" or \"text\" with something in it");
  return document;
}

}  // namespace

std::variant<Document, std::string> parse_document(std::string_view line, std::int64_t number) {
  const ParsedJson parsed = parse_json_of_file(line);
  if (!parsed.fault.empty()) return parsed.fault;
  try {
    return document_of(parsed.value, number);
  } catch (const Error& error) {
    return std::string(error.what());
  }
}

std::string contents_of(const std::string& title, const std::string& text, const std::optional<std::string>& head) {
  if (head) return *head + "\n" + text;
  return title.empty() ? text : "\"" + title + "\"\n" + text;
}

SplitContents split_contents(std::string_view contents) {
  const std::size_t line = contents.find('\n');
  if (line == std::string_view::npos || line > kLongestTitle) return {{}, std::string(contents), {}};
  const std::string_view head = contents.substr(0, line);
  SplitContents split{std::string(without_quotes(trim(head))), std::string(contents.substr(line + 1)), {}};
  if (contents_of(split.title, split.text) != contents) split.head = head;
  return split;
}

}  // namespace agon::tools
