#include "agents/learn/data/reward.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "agents/learn/data/response_scorer.h"
#include "core/error.h"
#include "core/text.h"
#include "env/protocol.h"

namespace agon::agents {
namespace {

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

// Whether each tag occurs at most once and is closed after it is opened.
bool is_well_formed(std::string_view text) {
  using env::Tag;
  for (const Tag tag : {Tag::think, Tag::answer, Tag::score, Tag::search, Tag::code, Tag::problem}) {
    const std::string name(env::name_of(tag));
    const std::size_t opened = count_of(text, "<" + name + ">"), closed = count_of(text, "</" + name + ">");
    if (opened != closed || opened > 1 || (opened == 1 && !env::first_tag(text, tag))) return false;
  }
  return true;
}

bool calls_tool(const record::Turn& turn) {
  const auto segments = env::segment_turn(turn.text);
  return std::any_of(segments.begin(), segments.end(),
                     [](const env::Segment& segment) { return segment.kind == env::SegmentKind::tool; });
}

bool uses_tools(const record::Episode& episode) {
  bool any = false;
  for (const record::Turn& turn : episode.turns) {
    if (turn.given || !calls_tool(turn)) continue;
    if (turn.facts.refused) return false;
    any = true;
  }
  return any;
}

}  // namespace

RewardComponents reward_components(const record::Episode& episode) {
  RewardComponents components;
  for (const record::Turn& turn : episode.turns)
    for (const auto& [name, value] : turn.reward.components) components[name] += value;
  const bool formed = std::all_of(episode.turns.begin(), episode.turns.end(),
                                  [](const record::Turn& turn) { return turn.given || is_well_formed(turn.text); });
  components.emplace("format", formed && episode.answer.has_value());
  components.emplace("score", episode.score.has_value());
  components.emplace("tool", uses_tools(episode));
  const record::Turn& last = episode.turns.back();
  if (last.model_reward) components.emplace(kModelReward, *last.model_reward);
  return components;
}

double weighted_reward(const RewardComponents& components, const std::map<std::string, double>& weights) {
  double reward = 0;
  for (const auto& [name, weight] : weights) {
    const auto found = components.find(name);
    if (found == components.end()) {
      std::vector<std::string> known;
      for (const auto& [component, value] : components) known.push_back(component);
      throw Error("{}", unknown_name_message("reward: component", name, known));
    }
    const double part = weight * found->second;
    if (!std::isfinite(part))
      throw Error("reward: {} x {} for '{}' is not finite. Is the weight finite?", weight, found->second, name);
    reward += part;
  }
  return reward;
}

}  // namespace agon::agents
