#include "critic/search/budget.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>

#include "core/error.h"
#include "core/text.h"
#include "critic/critic.h"

namespace agon::critic {
namespace {

const std::vector<std::string>& part_names() {
  static const std::vector<std::string> names = {"policy_tokens", "critic_tokens", "env_steps", "tool_seconds", "wall"};
  return names;
}

// Calls visit(name, limit) for each part.
template <typename SomeBudget, typename Visit>
void each_part(SomeBudget& budget, const Visit& visit) {
  visit(to_string(BudgetPart::policy_tokens), budget.policy_tokens);
  visit(to_string(BudgetPart::critic_tokens), budget.critic_tokens);
  visit(to_string(BudgetPart::env_steps), budget.env_steps);
  visit(to_string(BudgetPart::tool_seconds), budget.tool_seconds);
  visit(to_string(BudgetPart::wall), budget.wall_seconds);
}

template <typename Limit>
using Amount = typename std::remove_reference_t<Limit>::value_type;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

template <typename Number>
Number parse_amount(const std::string& part, std::string_view text) {
  Number amount = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (error == std::errc::result_out_of_range) throw Error("budget: '{}' is out of range.", part);
  if (!whole || !(amount >= 0) || (std::is_floating_point_v<Number> && !std::isfinite(static_cast<double>(amount))))
    throw Error("budget: '{}' gives no amount. Write a {} of 0 or more after the '=', as in wall=10.", part,
                std::is_floating_point_v<Number> ? "number" : "whole number");
  return amount;
}

void add_part(const std::string& part, Budget& budget) {
  const std::size_t equals = part.find('=');
  const std::string name(trim(part.substr(0, equals)));
  const std::string amount = equals == std::string::npos ? "" : std::string(trim(part.substr(equals + 1)));
  bool known = false;
  each_part(budget, [&](const std::string& other, auto& limit) {
    if (name != other) return;
    if (limit) throw Error("budget: '{}' is given twice. Leave one of them out.", name);
    limit = parse_amount<Amount<decltype(limit)>>(part, amount);
    known = true;
  });
  if (!known) throw Error("budget: {}", unknown_name_message("part", name, part_names()));
}

}  // namespace

const std::string& to_string(BudgetPart part) { return part_names().at(static_cast<std::size_t>(part)); }

Json part_json(std::optional<BudgetPart> part) { return part ? Json(to_string(*part)) : Json(); }

std::optional<BudgetPart> part_in(const Json& json) {
  const auto found = std::find(part_names().begin(), part_names().end(), json);
  if (found == part_names().end()) return std::nullopt;
  return static_cast<BudgetPart>(found - part_names().begin());
}

Budget parse_budget(const std::string& text) {
  Budget budget;
  if (trim(text).empty()) return budget;
  for (const std::string& part : split(text, ",")) add_part(part, budget);
  return budget;
}

Json to_json(const Budget& budget) {
  Json json = Json::object();
  each_part(budget, [&](const std::string& name, const auto& limit) {
    if (limit) json[name] = *limit;
  });
  return json;
}

Budget budget_in(const Json& json) {
  Budget budget;
  each_part(budget, [&](const std::string& name, auto& limit) {
    if (json.contains(name)) limit = json.at(name).get<Amount<decltype(limit)>>();
  });
  return budget;
}

Json to_json(const Spent& spent) {
  return {{"policy_tokens", spent.policy_tokens}, {"critic_tokens", spent.critic_tokens},
          {"env_steps", spent.env_steps},         {"tool_seconds", spent.tool_seconds},
          {"wall_seconds", spent.wall_seconds},   {"speculative_tokens", spent.speculative_tokens}};
}

Spent spent_in(const Json& json) {
  Spent spent;
  json.at("policy_tokens").get_to(spent.policy_tokens);
  json.at("critic_tokens").get_to(spent.critic_tokens);
  json.at("env_steps").get_to(spent.env_steps);
  json.at("tool_seconds").get_to(spent.tool_seconds);
  json.at("wall_seconds").get_to(spent.wall_seconds);
  json.at("speculative_tokens").get_to(spent.speculative_tokens);
  return spent;
}

Account::Account(const Budget& budget, double seconds_before) : budget_(budget), started_(now() - seconds_before) {}

double Account::seconds() const { return now() - started_; }

Spent Account::spent() const {
  Spent spent = spent_;
  spent.wall_seconds = seconds();
  return spent;
}

void Account::charge(const Spent& more) {
  spent_.policy_tokens += more.policy_tokens;
  spent_.critic_tokens += more.critic_tokens;
  spent_.env_steps += more.env_steps;
  spent_.tool_seconds += more.tool_seconds;
  spent_.speculative_tokens += more.speculative_tokens;
}

std::int64_t Account::policy_tokens_left() const {
  return budget_.policy_tokens ? *budget_.policy_tokens - spent_.policy_tokens : kNoTokenLimit;
}

std::int64_t Account::policy_tokens_for_candidates() const {
  const std::int64_t left = policy_tokens_left();
  return left == kNoTokenLimit ? left : left / 4;
}

std::int64_t Account::critic_tokens_left() const {
  return budget_.critic_tokens ? *budget_.critic_tokens - spent_.critic_tokens : kNoTokenLimit;
}

std::int64_t Account::critic_tokens_each(std::int64_t steps) const {
  return budget_.critic_tokens ? critic_tokens_left() / steps : kNoTokenLimit;
}

bool Account::wall_is_over() const { return budget_.wall_seconds && seconds() >= *budget_.wall_seconds; }

std::optional<BudgetPart> Account::bars_writing() const {
  if (wall_is_over()) return BudgetPart::wall;
  if (policy_tokens_left() <= 0) return BudgetPart::policy_tokens;
  return std::nullopt;
}

std::optional<BudgetPart> Account::bars_judging(std::int64_t steps) const {
  if (wall_is_over()) return BudgetPart::wall;
  if (critic_tokens_each(steps) <= 0) return BudgetPart::critic_tokens;
  return std::nullopt;
}

std::optional<BudgetPart> Account::bars_playing(bool calls_tool) const {
  if (budget_.env_steps && spent_.env_steps >= *budget_.env_steps) return BudgetPart::env_steps;
  if (calls_tool && budget_.tool_seconds && spent_.tool_seconds >= *budget_.tool_seconds)
    return BudgetPart::tool_seconds;
  return std::nullopt;
}

void Account::end(std::optional<BudgetPart> part) {
  if (!part) return;
  if (!first_ended_) first_ended_ = part;
  ended_.insert(*part);
}

std::string Account::exhausted() const {
  if (first_ended_) return to_string(*first_ended_);
  return held_back_ ? to_string(BudgetPart::policy_tokens) : "";
}

bool Account::may_write() const {
  return !has_ended(BudgetPart::policy_tokens) && !has_ended(BudgetPart::wall) && !has_ended(BudgetPart::env_steps) &&
         !has_ended(BudgetPart::tool_seconds);
}

bool Account::may_judge() const {
  return !has_ended(BudgetPart::critic_tokens) && !has_ended(BudgetPart::wall) && !has_ended(BudgetPart::env_steps) &&
         !has_ended(BudgetPart::tool_seconds);
}

}  // namespace agon::critic
