#include "critic/search/budget.h"

#include <charconv>
#include <cmath>

#include "core/error.h"
#include "core/text.h"

namespace agon::critic {
namespace {

const std::vector<std::string> kNames = {"policy_tokens", "critic_tokens", "env_steps", "tool_seconds", "wall"};

template <typename Number>
Number parse_amount(const std::string& part, std::string_view text) {
  Number amount = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || !(amount >= 0) || (std::is_floating_point_v<Number> && !std::isfinite(static_cast<double>(amount))))
    throw Error("budget: '{}' gives no amount. Write a {} of 0 or more behind the '=', as in wall=10.", part,
                std::is_floating_point_v<Number> ? "number" : "whole number");
  return amount;
}

void add_part(const std::string& part, Budget& budget) {
  const std::size_t equals = part.find('=');
  const std::string name(trim(part.substr(0, equals)));
  const std::string amount = equals == std::string::npos ? "" : std::string(trim(part.substr(equals + 1)));
  if (name == "policy_tokens")
    budget.policy_tokens = parse_amount<std::int64_t>(part, amount);
  else if (name == "critic_tokens")
    budget.critic_tokens = parse_amount<std::int64_t>(part, amount);
  else if (name == "env_steps")
    budget.env_steps = parse_amount<std::int64_t>(part, amount);
  else if (name == "tool_seconds")
    budget.tool_seconds = parse_amount<double>(part, amount);
  else if (name == "wall")
    budget.wall_seconds = parse_amount<double>(part, amount);
  else
    throw Error("budget: {}", unknown_name_message("part", name, kNames));
}

}  // namespace

Budget parse_budget(const std::string& text) {
  Budget budget;
  if (trim(text).empty()) return budget;
  for (const std::string& part : split(text, ",")) add_part(part, budget);
  return budget;
}

Json to_json(const Budget& budget) {
  Json json = Json::object();
  const auto add = [&](const char* name, const auto& limit) {
    if (limit) json[name] = *limit;
  };
  add("policy_tokens", budget.policy_tokens);
  add("critic_tokens", budget.critic_tokens);
  add("env_steps", budget.env_steps);
  add("tool_seconds", budget.tool_seconds);
  add("wall", budget.wall_seconds);
  return json;
}

Budget budget_in(const Json& json) {
  Budget budget;
  const auto read = [&](const char* name, auto& limit) {
    using Limit = typename std::remove_reference_t<decltype(limit)>::value_type;
    if (json.contains(name)) limit = json.at(name).get<Limit>();
  };
  read("policy_tokens", budget.policy_tokens);
  read("critic_tokens", budget.critic_tokens);
  read("env_steps", budget.env_steps);
  read("tool_seconds", budget.tool_seconds);
  read("wall", budget.wall_seconds);
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

}  // namespace agon::critic
