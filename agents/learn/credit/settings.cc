#include "agents/learn/credit/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/text.h"

namespace agon::agents {
namespace {

std::string shown(const Json& value) { return to_text(value).substr(0, 80); }

std::string range_text(double low, double high) {
  if (low == -kInfinity && high == kInfinity) return "a finite number";
  if (high == kInfinity) return fmt::format("a number from {}", low);
  return fmt::format("a number from {} to {}", low, high);
}

}  // namespace

CreditSettings::CreditSettings(std::string method, const Json& given)
    : method_(std::move(method)), given_(given.is_null() ? Json::object() : given) {
  if (!given_.is_object())
    throw Error("credit: {}: the settings must be keys and values, got {}.", method_, shown(given));
}

double CreditSettings::number(const char* name, double value, double low, double high) {
  const Json given = raw(name, value);
  const double number = given.is_number() ? given.get<double>() : std::numeric_limits<double>::quiet_NaN();
  if (!(number >= low && number <= high && std::abs(number) < kInfinity)) refuse(name, range_text(low, high));
  return number;
}

int CreditSettings::whole(const char* name, int value, int low, int high) {
  const Json given = raw(name, value);
  const auto whole = whole_number(given, low, high);
  if (!whole) refuse(name, fmt::format("a whole number from {} to {}", low, high));
  return *whole;
}

bool CreditSettings::flag(const char* name, bool value) {
  const Json given = raw(name, value);
  if (!given.is_boolean()) refuse(name, "true or false");
  return given.get<bool>();
}

std::string CreditSettings::choice(const char* name, const std::vector<std::string>& choices) {
  const Json given = raw(name, choices.front());
  if (!given.is_string() || std::find(choices.begin(), choices.end(), given.get<std::string>()) == choices.end())
    refuse(name, fmt::format("{}", fmt::join(choices, " or ")));
  return given.get<std::string>();
}

Json CreditSettings::raw(const char* name, const Json& value) {
  return resolved_[name] = given_.contains(name) ? given_.at(name) : value;
}

void CreditSettings::refuse(const char* name, const std::string& wanted) const {
  throw Error("credit: {}: {} must be {}, got {}.", method_, name, wanted, shown(resolved_.at(name)));
}

void CreditSettings::check_all_known() const {
  std::vector<std::string> known;
  for (const auto& [name, value] : resolved_.items()) known.push_back(name);
  for (const auto& [name, value] : given_.items())
    if (!resolved_.contains(name))
      throw Error("{}", unknown_name_message("credit: " + method_ + ": setting", name, known));
}

}  // namespace agon::agents
