#include "cli/report/preferences.h"

#include <algorithm>
#include <vector>

#include "cli/report/episodes.h"
#include "core/error.h"
#include "record/journal_entry.h"

namespace agon::cli {
namespace {

constexpr const char* kPreference = "preference";

bool is_list(const Json& set, const char* key) { return set.value(key, Json()).is_array(); }

bool has_parts(const Json& message) { return message.is_object() && is_list(message, "parts"); }

bool has_text(const Json& response) { return response.is_object() && response.value("text", Json()).is_string(); }

bool is_whole_set(const Json& set) {
  if (!set.is_object() || !set.value("id", Json()).is_string() || !set.value("category", Json()).is_string())
    return false;
  for (const char* key : {"messages", "responses", "rank", "chosen"})
    if (!is_list(set, key)) return false;
  if (!std::ranges::all_of(set["messages"], has_parts) || !std::ranges::all_of(set["responses"], has_text))
    return false;
  if (set["rank"].size() != set["responses"].size()) return false;
  if (!set.contains("graph")) return true;
  const Json& graph = set["graph"];
  if (!graph.is_object() || !is_list(graph, "arcs") || !is_list(graph, "removed")) return false;
  return !graph.contains("order") || is_list(graph, "order");
}

bool has_removed(const Json& set) { return set.contains("graph") && !set["graph"]["removed"].empty(); }

// The sets, those with removed arcs first. damaged: counts skipped sets.
std::vector<Json> sets_of(const record::RunReader& run, std::size_t& damaged) {
  std::vector<Json> sets;
  for (record::JournalEntry& entry : run.journal_ends(kPreference, [&](const Error&) { ++damaged; }))
    if (is_whole_set(entry.body))
      sets.push_back(std::move(entry.body));
    else
      ++damaged;
  std::stable_partition(sets.begin(), sets.end(), has_removed);
  return sets;
}

}  // namespace

void add_preferences(const record::RunReader& run, const ReportLimits& limits, Json& data) {
  std::size_t damaged = 0;
  const std::vector<Json> all = sets_of(run, damaged);
  Json sets = Json::array();
  ReportEpisodes shown;
  std::size_t text = 0;
  for (const Json& set : all) {
    if (sets.size() >= limits.tasks || shown.bytes() + text > limits.bytes) break;
    try {
      shown.add_images(run, set.at("messages"));
    } catch (const std::exception&) {  // a missing picture, or a name that is not a text
      ++damaged;
      continue;
    }
    text += set.dump().size();
    sets.push_back(set);
  }
  data["preferences"] = {
      {"summary", run.summary()}, {"sets", std::move(sets)}, {"total", all.size()}, {"damaged", damaged}};
  shown.move_into(data);
}

}  // namespace agon::cli
