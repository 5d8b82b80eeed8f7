#include "cli/assignments.h"

#include "core/error.h"
#include "core/json_text.h"

namespace agon::cli {

std::pair<std::string, std::string> split_assignment(const std::string& text, const std::string& flag) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) throw Error("{}: '{}' is not KEY=VALUE.", flag, text);
  return {text.substr(0, equals), text.substr(equals + 1)};
}

Json settings_of(const std::vector<std::string>& assignments, const std::string& flag) {
  Json settings = Json::object();
  for (const std::string& assignment : assignments) {
    const auto [key, value] = split_assignment(assignment, flag);
    const Json parsed = json_or_discarded(value);
    settings[key] = parsed.is_discarded() ? Json(value) : parsed;
  }
  return settings;
}

}  // namespace agon::cli
