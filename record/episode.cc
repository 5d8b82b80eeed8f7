#include "record/episode.h"

#include <utility>

namespace agon::record {
namespace {

constexpr const char *kGiven = "given", *kContext = "context", *kModelReward = "reward_model", *kTokens = "tokens",
                     *kReasoning = "reasoning";

bool is_full_context(const Json& json) {
  return json.is_object() && json.size() == 2 && json.contains("prompt_tokens") && json.contains("holds") &&
         json["prompt_tokens"].is_number_integer() && json["holds"].is_number_integer();
}

}  // namespace

Json info_of(const Turn& turn) {
  Json info = env::to_json(turn.facts);
  if (turn.given) info[kGiven] = true;
  if (turn.full_context)
    info[kContext] = {{"prompt_tokens", turn.full_context->prompt_tokens}, {"holds", turn.full_context->holds}};
  if (turn.model_reward) info[kModelReward] = *turn.model_reward;
  if (turn.counted_tokens) info[kTokens] = *turn.counted_tokens;
  if (!turn.reasoning.empty()) info[kReasoning] = turn.reasoning;
  return info;
}

void set_info(Turn& turn, Json json) {
  turn.facts = env::step_facts_of(std::move(json));
  Json& info = turn.facts.info;
  if (!info.is_object()) return;
  if (info.value(kGiven, Json()) == true) turn.given = info.erase(kGiven) > 0;
  if (const Json context = info.value(kContext, Json()); is_full_context(context)) {
    turn.full_context = {context["prompt_tokens"].get<std::int64_t>(), context["holds"].get<std::int64_t>()};
    info.erase(kContext);
  }
  if (const Json reward = info.value(kModelReward, Json()); reward.is_number()) {
    turn.model_reward = reward.get<double>();
    info.erase(kModelReward);
  }
  if (const auto tokens = whole_number(info.value(kTokens, Json()), 0, INT32_MAX)) {
    turn.counted_tokens = *tokens;
    info.erase(kTokens);
  }
  if (const Json reasoning = info.value(kReasoning, Json()); reasoning.is_string()) {
    turn.reasoning = reasoning.get<std::string>();
    info.erase(kReasoning);
  }
}

std::vector<bool> turns_correct(const Episode& episode) {
  std::vector<bool> correct;
  for (const Turn& turn : episode.turns)
    if (turn.facts.turn_correct) correct.push_back(*turn.facts.turn_correct);
  if (correct.size() == 1 && episode.turns.back().full_context) correct.push_back(false);
  return correct;
}

}  // namespace agon::record
