#include "paths.h"

namespace agon::test {

std::filesystem::path source_path(std::string_view name) { return std::filesystem::path(AGON_SOURCE_DIR) / name; }
std::filesystem::path golden_path(std::string_view name) { return source_path("tests/golden") / name; }
std::filesystem::path launcher_path() { return AGON_LAUNCHER; }

}  // namespace agon::test
