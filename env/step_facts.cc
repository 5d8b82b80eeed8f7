#include "env/step_facts.h"

#include <utility>

namespace agon::env {
namespace {

template <typename Value>
void put(Json& json, const char* name, const std::optional<Value>& value) {
  if (value) json[name] = *value;
}

// Moves a member of that type out of the object; anything else stays there.
template <typename Value>
void take(Json& json, const char* name, bool (Json::*is_type)() const noexcept, std::optional<Value>& value) {
  const auto found = json.find(name);
  if (found == json.end() || !((*found).*is_type)()) return;
  value = found->get<Value>();
  json.erase(found);
}

Json to_json(const ToolAttempt& call) {
  return {{"tool", call.tool},
          {"arguments", call.arguments},
          {"outcome", call.outcome},
          {"seconds", call.seconds},
          {"bytes", call.bytes}};
}

// All attempts; nothing if one of them has another form.
std::optional<std::vector<ToolAttempt>> tool_calls_of(const Json& json) {
  std::vector<ToolAttempt> calls;
  try {
    for (const Json& call : json)
      calls.push_back({call.at("tool").get<std::string>(), call.at("arguments"), call.at("outcome").get<std::string>(),
                       call.at("seconds").get<double>(), call.at("bytes").get<std::int64_t>()});
  } catch (const Json::exception&) {
    return std::nullopt;
  }
  return calls;
}

}  // namespace

Json to_json(const StepFacts& facts) {
  Json json = facts.info;
  if (!json.is_object()) return json;  // of a record that another program wrote
  put(json, "error", facts.refused);
  put(json, "success", facts.success);
  put(json, "step_correct", facts.step_correct);
  put(json, "turn_correct", facts.turn_correct);
  put(json, "turn_reward", facts.turn_reward);
  if (!facts.grading.is_null()) json["grading"] = facts.grading;
  for (const ToolAttempt& call : facts.tool_calls) json["tool_calls"].push_back(to_json(call));
  return json;
}

StepFacts step_facts_of(Json json) {
  StepFacts facts;
  facts.info = std::move(json);
  Json& info = facts.info;
  if (!info.is_object()) return facts;
  take(info, "error", &Json::is_string, facts.refused);
  take(info, "success", &Json::is_boolean, facts.success);
  take(info, "step_correct", &Json::is_boolean, facts.step_correct);
  take(info, "turn_correct", &Json::is_boolean, facts.turn_correct);
  take(info, "turn_reward", &Json::is_number, facts.turn_reward);
  std::optional<Json> grading;
  take(info, "grading", &Json::is_object, grading);
  if (grading) facts.grading = *std::move(grading);
  const auto calls = info.find("tool_calls");
  if (calls == info.end() || !calls->is_array()) return facts;
  if (auto read = tool_calls_of(*calls)) {
    facts.tool_calls = *std::move(read);
    info.erase(calls);
  }
  return facts;
}

}  // namespace agon::env
