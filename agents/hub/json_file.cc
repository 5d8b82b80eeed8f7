#include "agents/hub/json_file.h"

#include <cstdint>
#include <system_error>

#include "core/error.h"
#include "core/json_parse.h"
#include "core/text.h"

namespace agon::agents {

std::string read_small_file(const std::filesystem::path& path) {
  constexpr std::uintmax_t kMost = 256'000'000;
  std::error_code ignored;
  const std::uintmax_t size = std::filesystem::file_size(path, ignored);
  if (!ignored && size > kMost)
    throw Error("{}: {} bytes, and such a file has at most {}. Is it damaged?", path.string(), size, kMost);
  return read_file(path.string());
}

Json read_json_file(const std::filesystem::path& path) {
  const std::string text = read_small_file(path);
  try {
    return json_of(text);
  } catch (const Error& error) {
    throw Error("{}: {}. Is the download complete?", path.string(), error.what());
  }
}

}  // namespace agon::agents
