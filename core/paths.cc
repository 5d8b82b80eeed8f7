#include "core/paths.h"

#include <set>

#include "core/error.h"

namespace agon {

namespace fs = std::filesystem;

std::optional<fs::path> repeated_path(std::span<const fs::path> paths) {
  std::set<fs::path> seen;
  for (const fs::path& path : paths) {
    std::error_code code;
    const fs::path whole = fs::weakly_canonical(path, code);
    if (!seen.insert(code ? path : whole).second) return path;
  }
  return {};
}

void require_each_path_once(const std::string& where, std::span<const fs::path> paths) {
  if (const auto repeated = repeated_path(paths))
    throw Error("{} {} is given twice. Give it once.", where, repeated->string());
}

}  // namespace agon
