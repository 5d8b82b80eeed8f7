#include "env/suites/question_file.h"

#include <fmt/format.h>

#include <set>

#include "core/error.h"
#include "core/hash.h"
#include "core/image.h"
#include "core/text.h"
#include "tools/json_text.h"

namespace agon::env {
namespace {

namespace fs = std::filesystem;
using tools::SortedJson;

constexpr std::size_t kSimpleSearch = 75, kSimpleCoding = 70;  // the first of a MAT file

void refuse_other_formats(const std::string& path, std::string_view content) {
  if (content.starts_with("PAR1"))
    throw Error(
        "{0}: Parquet is not read here. Convert it, with pandas and pyarrow: python3 -c \"import pandas; "
        "pandas.read_parquet('{0}').to_json('{0}.jsonl', orient='records', lines=True)\"",
        path);
  if (content.starts_with("version https://git-lfs"))
    throw Error("{}: this is a pointer of Git LFS, not the file. Run git lfs pull in its repository.", path);
}

SortedJson parsed(std::string_view text) {
  tools::ParsedJson result = tools::parse_json(text);
  if (!result.fault.empty()) throw Error("{}", result.fault);
  return std::move(result.value);
}

std::string text_at(const SortedJson& item, const char* key) {
  if (!item.contains(key)) throw Error("no \"{}\"", key);
  if (!item[key].is_string() || trim(item[key].get<std::string>()).empty())
    throw Error("\"{}\" is {}, not a text with something in it", key, tools::shown(item[key]));
  return item[key];
}

std::vector<std::string> texts_of(const SortedJson& value, const char* key) {
  std::vector<std::string> texts;
  for (const SortedJson& one : value.is_array() ? value : SortedJson::array({value})) {
    if (!one.is_string() && !one.is_number())
      throw Error("\"{}\" is {}, not a text or a list of them", key, tools::shown(value));
    texts.push_back(one.is_string() ? one.get<std::string>() : one.dump());
  }
  if (texts.empty()) throw Error("\"{}\" is empty", key);
  return texts;
}

std::vector<std::string> answers_of(const SortedJson& item) {
  for (const char* key : {"golden_answers", "answers", "answer"})
    if (item.contains(key)) return texts_of(item[key], key);
  const SortedJson::json_pointer target("/reward_model/ground_truth/target");
  if (item.contains(target)) return texts_of(item[target], "target");
  throw Error("no \"answer\", \"answers\" or \"golden_answers\"");
}

std::string id_of(const SortedJson& item, std::size_t number) {
  if (!item.contains("id")) return std::to_string(number);
  return item["id"].is_number_integer() ? item["id"].dump() : text_at(item, "id");
}

// "type": ["rotation90", "dark"], or ["none"].
Defects defects_of(const SortedJson& item) {
  const auto defects = parse_defects(fmt::format("{}", fmt::join(texts_of(item["type"], "type"), ",")));
  if (!defects) throw Error("\"type\" is {}, not a list of what is wrong with a picture", tools::shown(item["type"]));
  return *defects;
}

FileQuestion question_of(const SortedJson& item, std::size_t number, const fs::path& folder) {
  if (!item.is_object()) throw Error("not a JSON object {{...}}");
  FileQuestion question{id_of(item, number), text_at(item, "question"), "search", answers_of(item), {}, {}, 1};
  if (item.contains("type") && item.contains("processed_image_path")) {
    question.defects = defects_of(item);
    question.kind = kind_of(question.defects);
    const bool part = question.defects.count(Defect::crop) > 0;
    question.picture = folder / text_at(item, part ? "ori_image_path" : "processed_image_path");
    question.level = number < kSimpleCoding ? 1 : 2;
  } else if (item.contains("image_path")) {
    question.picture = folder / text_at(item, "image_path");
    question.level = number < kSimpleSearch ? 1 : 2;
  }
  if (!question.picture.empty()) check_image(question.picture);
  return question;
}

}  // namespace

QuestionFile read_question_file(const std::string& path) {
  const std::string content = read_file(path);
  refuse_other_formats(path, content);
  QuestionFile file;
  std::set<std::string> ids;
  std::string seen = fmt::format("{:016x}", hash_text(content));
  const auto add = [&](const SortedJson& item, const std::string& place) {
    try {
      FileQuestion question = question_of(item, file.questions.size(), fs::path(path).parent_path());
      if (!ids.insert(question.id).second) throw Error("the id {} again", question.id);
      if (!question.picture.empty()) seen += fmt::format(" {}", fs::file_size(question.picture));
      file.questions.push_back(std::move(question));
    } catch (const Error& error) {
      throw Error("{}, {}: {}", path, place, error.what());
    }
  };
  if (trim(content).starts_with('[')) {
    SortedJson items;
    try {
      items = parsed(content);
    } catch (const Error& error) {
      throw Error("{}: {}", path, error.what());
    }
    for (std::size_t i = 0; i < items.size(); ++i) add(items[i], fmt::format("item {}", i));
  } else {
    std::size_t line = 0;
    for (const std::string& text : split(content, "\n")) {
      ++line;
      if (trim(text).empty()) continue;
      const tools::ParsedJson item = tools::parse_json(text);
      if (!item.fault.empty()) throw Error("{}, line {}: {}", path, line, item.fault);
      add(item.value, fmt::format("line {}", line));
    }
  }
  if (file.questions.empty()) throw Error("{}: no questions.", path);
  file.hash = hash_text(seen);
  return file;
}

}  // namespace agon::env
