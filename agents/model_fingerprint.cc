#include "agents/model_fingerprint.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "agents/hub/gguf/vision.h"
#include "core/hash.h"

namespace agon::agents {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kEnds = 1 << 20;  // bytes hashed at each end of a file

std::string fingerprint_of(const std::vector<fs::path>& files) {
  std::string seen;
  for (const fs::path& file : files)
    seen += fmt::format("{} {:016x}\n", file.filename().string(), hash_ends(file, kEnds));
  return fmt::format("{:016x}", hash_text(seen));
}

}  // namespace

std::string model_fingerprint(const fs::path& folder) {
  std::vector<fs::path> files;
  if (fs::is_regular_file(folder)) {
    const auto vision = find_mmproj(folder);
    if (!vision) return fmt::format("{:016x}", hash_ends(folder, kEnds));
    return fingerprint_of({folder, *vision});
  }
  for (const auto& entry : fs::directory_iterator(folder)) {
    const fs::path extension = entry.path().extension();
    if (entry.is_regular_file() &&
        (extension == ".safetensors" || extension == ".json" || extension == ".jinja" || extension == ".gguf"))
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return fingerprint_of(files);
}

}  // namespace agon::agents
