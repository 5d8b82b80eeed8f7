#include "cli/flags/assignments.h"
#include "cli/flags/usage.h"

#include <set>

#include "core/json_parse.h"

namespace agon::cli {

std::pair<std::string, std::string> split_assignment(const std::string& text, const std::string& flag) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) throw WrongUsage("{}: '{}' is not KEY=VALUE.", flag, text);
  return {text.substr(0, equals), text.substr(equals + 1)};
}

void require_keys_once(const std::vector<std::string>& assignments, const std::string& flag) {
  std::set<std::string> keys;
  for (const std::string& assignment : assignments)
    if (const std::string key = split_assignment(assignment, flag).first; !keys.insert(key).second)
      throw WrongUsage("{}: {} is given twice. Give it once.", flag, key);
}

Json settings_of(const std::vector<std::string>& assignments, const std::string& flag) {
  require_keys_once(assignments, flag);
  Json settings = Json::object();
  for (const std::string& assignment : assignments) {
    const auto [key, value] = split_assignment(assignment, flag);
    const Json parsed = json_or_discarded(value);
    settings[key] = parsed.is_discarded() ? Json(value) : parsed;
  }
  return settings;
}

}  // namespace agon::cli
