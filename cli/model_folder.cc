#include "cli/model_folder.h"

#include <fmt/ranges.h>

#include <vector>

#include "core/error.h"

namespace agon::cli {
namespace {

bool is_model_folder(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(folder / "config.json", ignored);
}

std::vector<std::filesystem::path> default_places(std::filesystem::path folder, const char* model) {
  std::vector<std::filesystem::path> places;
  for (; !folder.empty(); folder = folder.parent_path()) {
    places.push_back(folder / model);
    if (folder == folder.root_path()) break;
  }
  places.push_back(std::filesystem::current_path() / model);
  return places;
}

}  // namespace

std::filesystem::path program_folder() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
}

std::filesystem::path find_model_folder(const std::string& policy, const std::filesystem::path& program,
                                        const char* default_model) {
  if (!policy.empty()) {
    if (is_model_folder(policy)) return policy;
    throw Error("policy: {} is no model folder: it has no config.json. Give a folder in the hub's form.", policy);
  }
  std::vector<std::string> tried;
  for (const std::filesystem::path& place : default_places(program, default_model)) {
    if (is_model_folder(place)) return place;
    tried.push_back(place.string());
  }
  throw Error("policy: the default model {} was not found. Tried {}. Give --policy DIR.", default_model,
              fmt::join(tried, ", "));
}

}  // namespace agon::cli
