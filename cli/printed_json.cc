#include "cli/printed_json.h"

#include <map>
#include <string>
#include <string_view>

#include "core/provenance.h"

namespace agon::cli {
namespace {

using Names = std::map<std::string_view, const char*>;  // stored name -> printed name

const Names kFigureNames{{"score_ap", "score_average_precision"}};
const Names kScoreNames{{"ap", "average_precision"}};
const Names kSecondsNames{{"wall_seconds", "seconds"}};
const Names kLessonNames{{"samples", "lessons"}};

Json with_names(const Json& stored, const Names& names) {
  if (!stored.is_object()) return stored;
  Json printed = Json::object();
  for (const auto& [key, value] : stored.items()) {
    const auto name = names.find(key);
    printed[name == names.end() ? key : name->second] = value;
  }
  return printed;
}

// The same for the object under a key, if it exists.
void rename_in(Json& json, const char* key, const Names& names) {
  if (json.is_object() && json.contains(key)) json[key] = with_names(json[key], names);
}

// Stores the interval of the only estimate of `figures`, and its count, under the estimate's name.
void set_interval(Json& figures, const char* name, const Json& interval, const Json& count) {
  figures["ci"] = Json::object();
  figures["n"] = Json::object();
  if (!figures.at(name).is_number()) return;
  figures["ci"][name] = interval;
  figures["n"][name] = count;
}

}  // namespace

Json printed_figures(const Json& stored) {
  Json figures = with_names(stored, {{"tokens", "policy_tokens"}, {"verifier", "reward_model"}});
  rename_in(figures, "score", kScoreNames);
  for (const char* part : {"ci", "n"}) rename_in(figures, part, kFigureNames);
  return figures;
}

Json printed_difference(const Json& stored) {
  Json difference = with_names(stored, kFigureNames);
  for (const char* part : {"ci", "n"}) rename_in(difference, part, kFigureNames);
  return difference;
}

Json printed_search(const Json& stored) {
  Json figures = with_names(stored, {{"wall_seconds", "seconds"},
                                     {"judged", "judged_steps"},
                                     {"steps_rejected", "rejected_steps"},
                                     {"unranked", "unranked_trajectories"}});
  set_interval(figures, "accuracy", stored.at("ci").at("accuracy"), stored.at("tasks"));
  for (Json& level : figures.at("by_level")) set_interval(level, "accuracy", Json(level.at("ci")), level.at("tasks"));
  return figures;
}

Json printed_outcome(const Json& stored) {
  Json outcome = with_names(stored, {{"judged", "judged_steps"},
                                     {"invalid", "invalid_verdicts"},
                                     {"unknown", "unknown_verdicts"},
                                     {"rejected", "rejected_steps"},
                                     {"unranked", "unranked_trajectories"}});
  rename_in(outcome, "spent", kSecondsNames);
  if (outcome.at("exhausted") == "") outcome["exhausted"] = nullptr;
  return outcome;
}

Json printed_ranking(const Json& stored) {
  const Names names{{"n", "sets"}};
  Json figures = with_names(stored, names);
  for (Json& category : figures.at("by_category")) category = with_names(category, names);
  set_interval(figures, "best_of_n", stored.at("ci"), stored.at("n"));
  return figures;
}

Json printed_notes(const Json& stored) {
  Json notes = with_names(stored, {{"samples", "lessons"}, {"passed_over", "without_order"}});
  if (notes.contains("held_out") && notes["held_out"].is_object())
    notes["held_out"] = printed_ranking(notes["held_out"]);
  if (notes.contains(kProvenance)) notes[kProvenance] = printed_provenance(notes[kProvenance]);
  return notes;
}

Json printed_preferences(const Json& stored) {
  Json summary = with_names(stored, {{"suites", "by_suite"}});
  if (!summary.is_object()) return summary;
  for (Json& suite : summary.at("by_suite")) suite = with_names(suite, {{"judged", "judge"}});
  return summary;
}

Json printed_self_play(const Json& stored) {
  Json summary = stored;
  for (Json& round : summary.at("rounds"))
    for (const char* player : {"critic", "sneaky"}) rename_in(round, player, kLessonNames);
  return summary;
}

Json printed_credit(const Json& stored) {
  Json credit = with_names(stored, {{"P", "error_rate"},
                                    {"R01", "reward_01"},
                                    {"R11", "reward_11"},
                                    {"R10", "reward_10"},
                                    {"R00", "reward_00"},
                                    {"beta1", "first_turn_kl"},
                                    {"beta2", "second_turn_kl"}});
  for (Json& rollout : credit.at("rollouts"))
    rollout = with_names(rollout, {{"g", "gain"}, {"G", "return"}, {"V", "visual_dependence"}});
  return credit;
}

Json printed_provenance(const Json& stored) {
  Json record = with_names(stored, {{"verifier", "reward_model"}});
  if (record.is_object() && record.contains("made_by")) record["made_by"] = printed_provenance(record["made_by"]);
  return record;
}

}  // namespace agon::cli
