#include "core/paths.h"

#include <set>

#include "core/error.h"
#include "core/text.h"

namespace agon {

namespace fs = std::filesystem;

fs::path picture_path(const std::string& name, const fs::path& folder) {
  constexpr std::size_t kMost = 40;  // of an address, which may hold the picture itself
  if (name.empty()) throw Error("an empty text names no picture; leave it out");
  std::error_code code;
  fs::path path = folder / name;
  const bool address = name.find("://") != std::string::npos || name.starts_with("data:");
  if (address && !fs::exists(path, code))
    throw Error("the picture {}{} is an address, and pictures are read from files alone. Write the path of a file",
                valid_utf8(name.substr(0, kMost)), name.size() > kMost ? "..." : "");
  return path;
}

std::optional<fs::path> repeated_path(std::span<const fs::path> paths) {
  std::set<fs::path> seen;
  for (const fs::path& path : paths) {
    std::error_code code;
    const fs::path whole = fs::weakly_canonical(path, code);
    if (!seen.insert(code ? path : whole).second) return path;
  }
  return {};
}

}  // namespace agon
