#include "cli/credit_group.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "cli/flags/parse_whole.h"
#include "core/error.h"
#include "core/json_records.h"
#include "core/text.h"

namespace agon::cli {
namespace {

using agents::CreditRollout;
using agents::CreditSegment;

constexpr int kMostTokens = 1 << 24;

std::string shown(const Json& json) { return json.dump().substr(0, 80); }

// Reads the keys of one roll-out and reports errors in them.
class RolloutKeys {
 public:
  // where: the file and the roll-out's number.
  RolloutKeys(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
    if (!json.is_object()) throw Error("credit: {}: expected keys and values, got {}.", where_, shown(json));
  }

  // Null if the key is missing.
  const Json* find(const char* key) {
    known_.emplace_back(key);
    const auto found = json_.find(key);
    return found == json_.end() || found->is_null() ? nullptr : &*found;
  }
  const Json& need(const char* key, const char* wanted) {
    const Json* found = find(key);
    if (!found) throw Error("credit: {}: '{}' is missing; give {}.", where_, key, wanted);
    return *found;
  }
  double number(const char* key, const Json& value) const {
    if (!value.is_number()) refuse(key, "be a number", value);
    return value.get<double>();
  }
  bool flag(const char* key, const Json& value) const {
    if (!value.is_boolean()) refuse(key, "be true or false", value);
    return value.get<bool>();
  }
  const Json& list(const char* key, const char* rule, const Json& value) const {
    if (!value.is_array()) refuse(key, rule, value);
    return value;
  }
  [[noreturn]] void refuse(const char* key, const std::string& rule, const Json& value) const {
    throw Error("credit: {}: '{}' must {}, got {}.", where_, key, rule, shown(value));
  }
  // Unknown keys are allowed unless they look like a misspelling.
  void check_slips() const {
    for (const auto& [key, value] : json_.items())
      if (std::find(known_.begin(), known_.end(), key) == known_.end())
        if (const auto nearest = nearest_name(key, known_))
          throw Error("credit: {}: no key '{}'. Did you mean '{}'?", where_, key, *nearest);
  }

 private:
  const Json& json_;
  std::string where_;
  std::vector<std::string> known_;
};

constexpr std::array kKinds = {env::SegmentKind::think, env::SegmentKind::step, env::SegmentKind::answer,
                               env::SegmentKind::score, env::SegmentKind::tool};

env::SegmentKind parse_kind(const RolloutKeys& keys, const Json& json) {
  std::vector<std::string> names;
  for (const env::SegmentKind kind : kKinds) {
    names.emplace_back(env::to_string(kind));
    if (json == names.back()) return kind;
  }
  keys.refuse("segments", fmt::format("be of the kinds {}", fmt::join(names, ", ")), json);
}

int parse_count(const RolloutKeys& keys, const Json& json, const char* rule) {
  const auto count = whole_number<int>(json, 0, kMostTokens);
  if (!count) keys.refuse("segments", rule, json);
  return *count;
}

CreditSegment parse_segment(const RolloutKeys& keys, const Json& json) {
  if (!json.is_array() || json.size() < 2 || json.size() > 3)
    keys.refuse("segments", "be [[kind, tokens], ...] or [[kind, tokens, turn], ...]", json);
  CreditSegment segment{parse_kind(keys, json[0]), parse_count(keys, json[1], "have numbers of tokens from 0")};
  if (json.size() == 3) segment.turn = parse_count(keys, json[2], "count turns from 0");
  return segment;
}

std::vector<double> parse_numbers(RolloutKeys& keys, const char* key) {
  std::vector<double> numbers;
  if (const Json* list = keys.find(key))
    for (const Json& number : keys.list(key, "be a list of numbers", *list))
      numbers.push_back(keys.number(key, number));
  return numbers;
}

CreditRollout parse_rollout(const Json& json, const std::string& where) {
  RolloutKeys keys(json, where);
  CreditRollout rollout;
  rollout.answer_reward = keys.number("answer_reward", keys.need("answer_reward", "the reward, a finite number"));
  rollout.correct = keys.flag("correct", keys.need("correct", "true or false"));
  if (const Json* score = keys.find("score")) {
    const double value = keys.number("score", *score);
    if (value >= 0 && value <= 1) rollout.score = value;  // a score outside [0, 1] counts as missing
  }
  for (const Json& segment : keys.list("segments", "be [[kind, tokens], ...]",
                                       keys.need("segments", "[[kind, tokens], ...], empty for an empty response")))
    rollout.segments.push_back(parse_segment(keys, segment));
  if (const Json* turns = keys.find("turn_correct"))
    for (const Json& turn : keys.list("turn_correct", "be a list of true and false", *turns))
      rollout.turn_correct.push_back(keys.flag("turn_correct", turn));
  rollout.step_confidence = parse_numbers(keys, "step_confidence");
  rollout.step_visual = parse_numbers(keys, "step_visual");
  if (const Json* truncated = keys.find("truncated")) rollout.truncated = keys.flag("truncated", *truncated);
  keys.check_slips();
  return rollout;
}

Json parse_json(const std::string& text, const std::string& source) {
  try {
    return Json(read_value(text, source));
  } catch (const Error& error) {
    throw Error("credit: {}", error.what());
  }
}

// The shortest number that is this float: 0.1f is 0.1, not 0.10000000149.
Json numbers_of(const std::vector<float>& values) {
  Json numbers = Json::array();
  for (const float value : values) numbers.push_back(*parse_whole<double>(fmt::format("{}", value)));
  return numbers;
}

bool holds_containers(const Json& json) {
  return std::any_of(json.begin(), json.end(), [](const Json& entry) { return entry.is_structured(); });
}

void write(std::string& text, const Json& json, std::size_t depth) {
  if (!json.is_structured() || json.empty()) {
    text += json.dump();
    return;
  }
  const bool one_line = !holds_containers(json);
  const auto begin_line = [&](std::size_t level) { text.append(1, '\n').append(2 * level, ' '); };
  text += json.is_array() ? '[' : '{';
  for (bool first = true; const auto& [key, value] : json.items()) {
    if (!first) text += one_line ? ", " : ",";
    if (!one_line) begin_line(depth + 1);
    if (json.is_object()) text.append(Json(key).dump()).append(": ");
    write(text, value, depth + 1);
    first = false;
  }
  if (!one_line) begin_line(depth);
  text += json.is_array() ? ']' : '}';
}

}  // namespace

agents::CreditGroup parse_credit_group(const std::string& text, const std::string& source) {
  const Json json = parse_json(text, source);
  const bool bare = json.is_array();
  if (!bare && !(json.is_object() && json.contains("rollouts") && json["rollouts"].is_array()))
    throw Error("credit: {}: expected {{\"rollouts\": [...]}} or an array of roll-outs, got {}.", source, shown(json));
  agents::CreditGroup group;
  for (const Json& rollout : bare ? json : json["rollouts"])
    group.push_back(parse_rollout(rollout, fmt::format("{}: roll-out {}", source, group.size())));
  return group;
}

Json credit_json(const agents::CreditAssigner& assigner, const Json& settings, const agents::GroupCredit& credit) {
  Json json{{"method", assigner.name()},
            {"settings", settings},
            {"filtered", credit.filtered.empty() ? Json() : Json(credit.filtered)},
            {"mass", credit.mass}};
  json.update(credit.figures);
  json["rollouts"] = Json::array();
  for (std::size_t i = 0; i < credit.rollouts.size(); ++i) {
    Json rollout = credit.rollout_figures[i];
    rollout["advantage"] = numbers_of(credit.rollouts[i].advantage);
    rollout["kl"] = numbers_of(credit.rollouts[i].kl);
    rollout["weight"] = numbers_of(credit.rollouts[i].weight);
    json["rollouts"].push_back(std::move(rollout));
  }
  return json;
}

namespace {

std::string cell(const Json& value) {
  if (value.is_number_float()) return fmt::format("{:.4g}", value.get<double>());
  return value.is_string() ? value.get<std::string>() : value.is_null() ? "-" : value.dump();
}

// "key value, key value" for all keys that are not lists of one number per token.
std::string figures_text(const Json& json, const std::vector<std::string>& left_out) {
  std::vector<std::string> figures;
  for (const auto& [key, value] : json.items())
    if (std::find(left_out.begin(), left_out.end(), key) == left_out.end())
      figures.push_back(fmt::format("{} {}", key, cell(value)));
  return fmt::format("{}", fmt::join(figures, ", "));
}

std::string tokens_text(const Json& rollout) {
  const Json &advantage = rollout["advantage"], &kl = rollout["kl"], &weight = rollout["weight"];
  std::string text;
  for (std::size_t begin = 0, end = 0; begin < advantage.size(); begin = end) {
    const auto same = [&](const Json& numbers) { return numbers[end] == numbers[begin]; };
    while (end < advantage.size() && same(advantage) && same(kl) && same(weight)) ++end;
    text += fmt::format("  tokens {:>9}  advantage {:>8}  KL {:>8}  weight {:>8}\n",
                        end - begin == 1 ? std::to_string(begin) : fmt::format("{}-{}", begin, end - 1),
                        cell(advantage[begin]), cell(kl[begin]), cell(weight[begin]));
  }
  return text.empty() ? "  no tokens\n" : text;
}

}  // namespace

std::string credit_text(const Json& credit) {
  std::string text =
      fmt::format("{}: {}\n", credit.at("method").get<std::string>(), figures_text(credit.at("settings"), {}));
  text += fmt::format("group: {}\n", figures_text(credit, {"method", "settings", "rollouts"}));
  std::size_t number = 0;
  for (const Json& rollout : credit.at("rollouts"))
    text += fmt::format("roll-out {}: {}\n{}", number++,
                        figures_text(rollout, {"advantage", "kl", "weight", "segments"}), tokens_text(rollout));
  return text;
}

std::string readable(const Json& json) {
  std::string text;
  write(text, json, 0);
  return text + "\n";
}

}  // namespace agon::cli
