#include "cli/report_preferences.h"

#include <algorithm>
#include <vector>

#include "cli/report_episodes.h"

namespace agon::cli {
namespace {

constexpr const char* kPreference = "preference";

bool has_removed(const env::JournalEntry& entry) {
  const Json& body = entry.body;
  return body.contains("graph") && !body["graph"].at("removed").empty();
}

}  // namespace

bool is_preferences(const Json& config) { return config.contains("preferences"); }

void add_preferences(const env::RunReader& run, const ReportLimits& limits, Json& data) {
  std::vector<env::JournalEntry> entries = run.journal_ends(kPreference);
  std::stable_partition(entries.begin(), entries.end(), has_removed);
  Json sets = Json::array();
  ReportEpisodes shown;
  std::size_t text = 0;
  for (const env::JournalEntry& entry : entries) {
    if (sets.size() >= limits.tasks || shown.bytes() + text > limits.bytes) break;
    text += entry.body.dump().size();
    shown.add_images(run, entry.body.at("messages"));
    sets.push_back(entry.body);
  }
  data["preferences"] = {{"summary", run.summary()}, {"sets", std::move(sets)}, {"total", entries.size()}};
  shown.move_into(data);
}

}  // namespace agon::cli
