#include "agents/hub/hub_cache.h"

#include <algorithm>
#include <cstdlib>

#include "core/error.h"
#include "core/json_parse.h"
#include "core/text.h"

namespace agon::agents {
namespace {

namespace fs = std::filesystem;

// Whether the text can be one part of a name on the hub, which excludes file-system paths.
bool is_part(std::string_view text) {
  return !text.empty() && text.size() <= 96 && text != "." && text != ".." &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
                  c == '.';
         });
}

bool is_file_path(std::string_view text) {
  for (const std::string& part : split(text, "/"))
    if (part.empty() || part == "." || part == ".." || part.find('\0') != std::string::npos) return false;
  return true;
}

}  // namespace

std::string hub_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : std::string(trim(value));
}

HubName parse_hub_name(std::string_view text) {
  HubName name;
  std::string_view rest = text;
  if (const std::size_t colon = rest.find(':'); colon != rest.npos) {
    name.file = rest.substr(colon + 1);
    rest = rest.substr(0, colon);
  }
  if (const std::size_t at = rest.find('@'); at != rest.npos) {
    name.revision = rest.substr(at + 1);
    rest = rest.substr(0, at);
  }
  name.repository = rest;
  const std::size_t slash = rest.find('/');
  const bool known = slash != rest.npos && is_part(rest.substr(0, slash)) && is_part(rest.substr(slash + 1)) &&
                     is_part(name.revision) && (name.file.empty() || is_file_path(name.file)) &&
                     (name.file.empty() ? !text.ends_with(':') : true);
  if (!known)
    throw Error("{} is not the name of a hub repository. Write ORG/NAME, or ORG/NAME:FILE.", shown_text(text));
  return name;
}

fs::path hub_cache_folder() {
  if (const std::string cache = hub_variable("HF_HUB_CACHE"); !cache.empty()) return cache;
  if (const std::string home = hub_variable("HF_HOME"); !home.empty()) return fs::path(home) / "hub";
  const std::string home = hub_variable("HOME");
  if (home.empty()) throw Error("hub: HOME is not set. Set HF_HOME to the folder of the hub's cache.");
  return fs::path(home) / ".cache/huggingface/hub";
}

fs::path cached_repository(const std::string& repository) {
  std::string folder = "models--" + repository;
  folder.replace(folder.find('/'), 1, "--");
  return hub_cache_folder() / folder;
}

std::optional<fs::path> find_cached(const HubName& name) {
  const fs::path repository = cached_repository(name.repository), ref = repository / "refs" / name.revision;
  std::error_code ignored;
  const std::string commit = fs::exists(ref, ignored) ? std::string(trim(read_file(ref.string()))) : name.revision;
  if (!is_part(commit)) return std::nullopt;
  fs::path found = repository / "snapshots" / commit;
  if (!name.file.empty()) found /= name.file;
  return fs::exists(found, ignored) ? std::optional(found) : std::nullopt;
}

}  // namespace agon::agents
