#include "env/kit/question_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/error.h"
#include "core/hash.h"
#include "core/json_records.h"
#include "core/pictures/image.h"
#include "core/text.h"
#include "env/kit/task_file.h"
#include "env/kit/task_pictures.h"

namespace agon::env {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kSimpleSearch = 75, kSimpleCoding = 70;  // the first questions of a MAT file

std::vector<std::string> texts_of(const SortedJson& value, const char* key) {
  std::vector<std::string> texts;
  for (const SortedJson& one : value.is_array() ? value : SortedJson::array({value})) {
    if (!one.is_string() && !one.is_number())
      throw Error("\"{}\" is {}, not a text or a list of them", key, shown(value));
    texts.push_back(one.is_string() ? one.get<std::string>() : one.dump());
    if (trim(texts.back()).empty()) throw Error("\"{}\" holds an empty text", key);
  }
  if (texts.empty()) throw Error("\"{}\" is empty", key);
  return texts;
}

std::vector<std::string> answers_of(const SortedJson& item) {
  std::vector<std::string> answers;
  std::string_view given;
  for (const char* key : {"golden_answers", "answers", "answer"}) {
    if (!item.contains(key)) continue;
    std::vector<std::string> texts = texts_of(item[key], key);
    if (!given.empty() && texts != answers)
      throw Error("\"{}\" is {}, and \"{}\" differs from it. Keep one", given, shown(item[std::string(given)]), key);
    answers = std::move(texts);
    given = key;
  }
  if (!answers.empty()) return answers;
  const SortedJson::json_pointer target("/reward_model/ground_truth/target");
  if (item.contains(target)) return texts_of(item[target], "target");
  throw Error("no \"answer\", \"answers\" or \"golden_answers\"");
}

std::string id_of(const SortedJson& item, std::size_t number) {
  if (!item.contains("id")) return std::to_string(number);
  return task_id_of(item["id"]);
}

// "type": ["rotation90", "dark"], or ["none"].
Defects defects_of(const SortedJson& item) {
  const auto defects = parse_defects(fmt::format("{}", fmt::join(texts_of(item["type"], "type"), ",")));
  if (!defects) throw Error("\"type\" is {}, not a list of what is wrong with a picture", shown(item["type"]));
  return *defects;
}

// Refuses a key that looks like a misspelled picture key, if the file has none; other keys are the user's own.
void check_picture_keys(const SortedJson& item) {
  if (item.contains("image_path") || item.contains("processed_image_path")) return;
  for (const auto& [key, value] : item.items()) {
    if (value.empty() || (value.is_string() && value.get_ref<const std::string&>().empty())) continue;
    std::string plain = to_lower(key);
    std::erase_if(plain, [](char c) { return c == '_' || c == '-' || c == ' '; });
    const std::vector<std::string> meant = {"image", "imagepath", "imagefile", "imagename",
                                            "img",   "imgpath",   "picture",   "picturepath"};
    if (plain.ends_with("s") && plain.size() > 3) plain.pop_back();
    if (std::ranges::find(meant, plain) != meant.end() || nearest_name(plain, {"imagepath"}))
      throw Error("no key \"{}\"; did you mean \"image_path\"?", key);
  }
}

FileQuestion question_of(const SortedJson& item, std::size_t number, const fs::path& folder) {
  check_picture_keys(item);
  FileQuestion question{id_of(item, number), filled_text_at(item, "question"), "search", answers_of(item), {}, {}, 1};
  if (item.contains("type") && item.contains("processed_image_path")) {
    question.defects = defects_of(item);
    question.kind = kind_of(question.defects);
    const bool part = question.defects.count(Defect::crop) > 0;
    question.picture = picture_path(filled_text_at(item, part ? "ori_image_path" : "processed_image_path"), folder);
    question.level = number < kSimpleCoding ? 1 : 2;
  } else if (item.contains("image_path")) {
    question.picture = picture_path(filled_text_at(item, "image_path"), folder);
    question.level = number < kSimpleSearch ? 1 : 2;
  }
  check_picture_marks(question.question, question.picture.empty() ? 0 : 1);
  return question;
}

}  // namespace

QuestionFile read_question_file(const std::string& path) {
  const std::string content = read_file(path);
  const fs::path folder = fs::path(path).parent_path();
  QuestionFile file;
  file.path = path;
  std::map<std::string, RecordPlace> place_of;  // by id
  read_records(content, path, [&](const SortedJson& item, const RecordPlace& place) {
    FileQuestion question = question_of(item, file.questions.size(), folder);
    const auto [earlier, fresh] = place_of.emplace(question.id, place);
    if (!fresh) throw Error("the id {} is already used in {}", question.id, earlier->second.text());
    file.identities.push_back({question.id, place.in(path), hash_text(item.dump()), {}});
    if (!question.picture.empty()) file.identities.back().pictures.push_back(question.picture);
    file.questions.push_back(std::move(question));
  });
  if (file.questions.empty()) throw Error("{}: no questions.", path);
  check_and_hash_pictures(path, file.identities);
  std::string seen = fmt::format("{:016x}", hash_text(content));
  for (const FileQuestion& question : file.questions)
    if (!question.picture.empty()) seen += fmt::format(" {}", fs::file_size(question.picture));
  file.hash = hash_text(seen);
  return file;
}

}  // namespace agon::env
