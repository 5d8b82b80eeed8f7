#include "critic/reward_model/preference.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "core/error.h"
#include "core/file.h"
#include "core/json_records.h"
#include "core/pictures/image.h"
#include "core/progress.h"
#include "core/text.h"

namespace agon::critic {
namespace {

namespace fs = std::filesystem;

constexpr const char* kImages = "images";
const std::vector<std::string> kKeys{"prompt", kImages, "responses", "instructions", "id", "category", "rank"};

// An id may also be a number.
std::string id_at(const Json& record, const std::string& otherwise) {
  const auto found = record.find("id");
  return found != record.end() && found->is_number() ? found->dump() : text_at(record, "id", otherwise);
}

std::vector<std::string> texts_at(const Json& record, const char* key) {
  const Json list = record.value(key, Json::array());
  if (!list.is_array()) throw Error("'{}' must be a list, got {}", key, list.dump().substr(0, 60));
  std::vector<std::string> texts;
  for (const Json& item : list) {
    if (!item.is_string()) throw Error("'{}' must hold texts, got {}", key, item.dump().substr(0, 60));
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

bool is_int(const Json& number) {
  constexpr std::int64_t kLeast = std::numeric_limits<int>::min(), kMost = std::numeric_limits<int>::max();
  if (number.is_number_unsigned()) return number.get<std::uint64_t>() <= static_cast<std::uint64_t>(kMost);
  return number.get<std::int64_t>() >= kLeast && number.get<std::int64_t>() <= kMost;
}

std::vector<int> ranks_at(const Json& record, std::size_t responses) {
  const Json list = record.value("rank", Json());
  if (!list.is_array()) throw Error("'rank' must be a list with the rank of each response, got {}", list.dump());
  if (list.size() != responses) throw Error("'rank' has {} entries for {} responses", list.size(), responses);
  std::vector<int> ranks;
  for (const Json& rank : list) {
    if (!rank.is_number_integer()) throw Error("'rank' must hold whole numbers, got {}", rank.dump().substr(0, 60));
    if (!is_int(rank)) throw Error("'rank' must hold 32-bit numbers, got {}", rank.dump().substr(0, 60));
    ranks.push_back(rank.get<int>());
  }
  return dense_ranks(ranks);
}

Candidates candidates_in(const Json& record, const fs::path& folder) {
  for (const auto& [near, meant] : {std::pair{"image", kImages}, std::pair{"response", "responses"}})
    if (record.contains(near)) throw Error("unknown key '{}': give '{}', a list", near, meant);
  Candidates candidates;
  if (const std::string instructions = text_at(record, "instructions", ""); !instructions.empty())
    candidates.messages.push_back(Message::of(Role::system, instructions));
  Message question{Role::user, {}, {}, {}};
  for (const std::string& image : texts_at(record, kImages))
    question.parts.push_back(Part::of(load_image(picture_path(image, folder), {.most_elongated = kMostElongated})));
  const std::string prompt = text_at(record, "prompt", "");
  if (prompt.empty() && question.parts.empty()) throw Error("it has neither a 'prompt' nor 'images'");
  question.parts.push_back(Part::of(prompt));
  candidates.messages.push_back(std::move(question));
  candidates.responses = texts_at(record, "responses");
  return candidates;
}

// file, line: default category and id of a set.
Preference preference_of(const Json& record, const fs::path& folder, const std::string& file, std::size_t line) {
  Candidates candidates = candidates_in(record, folder);
  if (candidates.responses.size() < 2)
    throw Error("'responses' must hold two or more to compare, got {}", candidates.responses.size());
  return {id_at(record, fmt::format("{}:{}", file, line)), text_at(record, "category", file),
          std::move(candidates.messages), candidates.responses, ranks_at(record, candidates.responses.size())};
}

Json json_of(const Preference& preference, const fs::path& folder) {
  Json record{{"id", preference.id}, {"category", preference.category}, {"prompt", ""}, {kImages, Json::array()}};
  for (const Message& message : preference.messages) {
    if (message.role == Role::system) record["instructions"] = message.text();
    if (message.role == Role::user) record["prompt"] = message.text();
    for (const Part& part : message.parts) {
      if (part.is_video())
        throw Error("preferences: {} shows a video, and the file of a set holds only pictures and text.",
                    preference.id);
      if (!part.is_image()) continue;
      const fs::path name = fs::path(kImages) / (part.image.hash().hex() + ".png");
      if (!fs::exists(folder / name)) save_image(part.image, folder / name);
      record[kImages].push_back(name.string());
    }
  }
  record["responses"] = preference.responses;
  record["rank"] = preference.rank;
  return record;
}

}  // namespace

bool without_order(const Preference& preference) {
  return std::ranges::count(preference.rank, preference.rank.front()) == std::ssize(preference.rank);
}

void require_each(const std::string& command, const std::vector<Preference>& preferences,
                  const std::function<void(const Candidates&)>& require) {
  Progress progress(command + ": reading", std::ssize(preferences), "sets", 0, kMostlyShort);
  for (const Preference& one : preferences) {
    try {
      require({one.messages, one.responses});
    } catch (const Error& error) {
      throw Error("{}: set '{}': {}", command, one.id, error.what());
    }
    progress.add(1);
  }
}

std::vector<int> dense_ranks(const std::vector<int>& ranks) {
  const std::set<int> values(ranks.begin(), ranks.end());
  std::vector<int> dense;
  for (const int rank : ranks) dense.push_back(1 + static_cast<int>(std::distance(values.begin(), values.find(rank))));
  return dense;
}

std::vector<Preference> read_preferences(const fs::path& file) {
  std::vector<Preference> preferences;
  std::map<std::string, RecordPlace> place_of;  // place of each id
  const std::string content = read_file(file.string());
  Progress progress("reading " + file.filename().string(), std::ranges::count(content, '\n'), "lines", 0, kMostlyShort);
  read_records(content, file.string(), [&](const SortedJson& record, const RecordPlace& place) {
    Preference one = preference_of(Json(record), file.parent_path(), file.stem().string(), place.number);
    const auto [earlier, fresh] = place_of.emplace(one.id, place);
    if (!fresh) throw Error("the id {} is already used by {}", one.id, earlier->second.text());
    preferences.push_back(std::move(one));
    progress.add(1);
  });
  if (preferences.empty()) throw Error("{} holds no preferences.", file.string());
  return preferences;
}

Candidates read_candidates(const std::string& text, const std::string& name, const fs::path& folder) {
  const Json record(read_value(text, name));
  try {
    if (!record.is_object()) throw Error("not a JSON object {{...}}");
    for (const auto& [key, value] : record.items())
      if (std::ranges::find(kKeys, key) == kKeys.end()) throw Error("{}", unknown_name_message("key", key, kKeys));
    Candidates candidates = candidates_in(record, folder);
    if (candidates.responses.empty()) throw Error("'responses' must hold at least one");
    return candidates;
  } catch (const Error& error) {
    throw Error("{}: {}", name, error.what());
  }
}

void write_preferences(const fs::path& file, const std::vector<Preference>& preferences) {
  const fs::path folder = file.parent_path();
  make_folders(folder / kImages);
  std::string lines;
  for (const Preference& preference : preferences) lines += to_text(json_of(preference, folder)) + "\n";
  write_file_atomically(file.string(), lines);
}

}  // namespace agon::critic
