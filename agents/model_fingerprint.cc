#include "agents/model_fingerprint.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "core/error.h"
#include "core/hash.h"

namespace agon::agents {
namespace {

namespace fs = std::filesystem;

// A hash of the file's size, its first and its last MiB: enough to tell one from another without reading gigabytes.
std::uint64_t hash_ends(const fs::path& file) {
  constexpr std::uintmax_t kPart = 1 << 20;
  const std::uintmax_t size = fs::file_size(file);
  std::ifstream stream(file, std::ios::binary);
  std::string seen(std::min(size, 2 * kPart), '\0');
  const auto first = static_cast<std::streamsize>(std::min(size, kPart));
  const auto last = static_cast<std::streamsize>(seen.size()) - first;
  stream.read(seen.data(), first);
  stream.seekg(static_cast<std::streamoff>(size) - last);
  stream.read(seen.data() + first, last);
  if (!stream) throw Error("{}: cannot be read. Check the path.", file.string());
  return hash_text(fmt::format("{} {}", size, seen));
}

}  // namespace

std::string model_fingerprint(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const fs::path extension = entry.path().extension();
    if (entry.is_regular_file() && (extension == ".safetensors" || extension == ".json" || extension == ".jinja"))
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::string seen;
  for (const fs::path& file : files) seen += fmt::format("{} {:016x}\n", file.filename().string(), hash_ends(file));
  return fmt::format("{:016x}", hash_text(seen));
}

}  // namespace agon::agents
