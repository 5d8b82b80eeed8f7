#include "agents/learn/loop/config_paths.h"

#include <algorithm>
#include <string_view>

#include "agents/config_reader.h"

namespace agon::agents {
namespace {

namespace fs = std::filesystem;
using Place = Json::json_pointer;
using Visit = std::function<void(const Place& place, Json& path)>;

// keys: the rest of the pointer, below `place`.
void visit_below(Json& at, std::string_view keys, const Place& place, const Visit& visit) {
  if (keys.empty()) {
    if (at.is_string() && !at.get_ref<const std::string&>().empty()) visit(place, at);
    return;
  }
  const std::size_t end = std::min(keys.find('/', 1), keys.size());
  const std::string key(keys.substr(1, end - 1));
  if (key == "*" && at.is_array())
    for (std::size_t i = 0; i < at.size(); ++i) visit_below(at[i], keys.substr(end), place / i, visit);
  else if (at.is_object() && at.contains(key))
    visit_below(at[key], keys.substr(end), place / key, visit);
}

void visit_paths(Json& config, PathKeys keys, const Visit& visit) {
  for (const char* key : keys) visit_below(config, key, Place(), visit);
}

// Whether the path is a server's address instead of a model folder.
bool is_address(std::string_view path) { return path.find("://") != path.npos; }

}  // namespace

void change_paths(Json& config, PathKeys keys, const std::function<std::string(const std::string&)>& change) {
  visit_paths(config, keys, [&](const Place&, Json& path) { path = change(path.get<std::string>()); });
}

std::string from_working_folder(const fs::path& file, const std::string& path) {
  if (is_address(path)) return path;
  return (file.parent_path() / path).lexically_normal().string();
}

std::string from_file(const fs::path& file, const std::string& path) {
  if (is_address(path) || fs::path(path).is_absolute()) return path;
  const fs::path base = fs::absolute(file).lexically_normal().parent_path();
  return fs::absolute(path).lexically_normal().lexically_relative(base).string();
}

Json read_config(const fs::path& file, std::span<const std::string> changes, PathKeys keys) {
  Json config = read_yaml(file);
  const Json written = config;
  change_paths(config, keys, [&](const std::string& path) { return from_working_folder(file, path); });
  for (const std::string& change : changes) set_value(config, change);
  // Unchanged values stay as written, since a resumed run compares them with its recorded config.
  visit_paths(config, keys, [&](const Place& place, Json& path) {
    const Json before = written.contains(place) ? written.at(place) : Json();
    const auto now = path.get<std::string>();
    const bool kept = before.is_string() && from_working_folder(file, before.get<std::string>()) == now;
    path = kept ? before : Json(from_file(file, now));
  });
  return config;
}

}  // namespace agon::agents
