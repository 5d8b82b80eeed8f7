// agents/learn/credit/settings.h - reads the settings of a credit method, each once, with its default and range.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "core/json.h"

namespace agon::agents {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A factory reads each of its settings once, by name: the given value, else the default. A value of a wrong type or out
// of range throws Error.
class CreditSettings {
 public:
  // `given`: an object, or null for no settings. Throws Error for anything else.
  CreditSettings(std::string method, const Json& given);
  double number(const char* name, double value, double low = -kInfinity, double high = kInfinity);
  int whole(const char* name, int value, int low, int high = std::numeric_limits<int>::max());
  bool flag(const char* name, bool value);
  // One of `choices`; the first is the default.
  std::string choice(const char* name, const std::vector<std::string>& choices);
  // A value that the factory reads itself.
  Json raw(const char* name, const Json& value);
  // Throws Error: "credit: adpo: gamma must be a number, got \"x\"."
  [[noreturn]] void refuse(const char* name, const std::string& wanted) const;
  // Throws Error for a given setting that was never read, naming the nearest known one.
  void check_all_known() const;
  const Json& resolved() const { return resolved_; }  // all settings read, in that order

 private:
  std::string method_;
  Json given_, resolved_ = Json::object();
};

}  // namespace agon::agents
