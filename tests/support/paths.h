// tests/support/paths.h - absolute paths of the files that tests read. Only paths.cc is compiled with them, so that a
// compiler cache can serve all other files in every checkout.
#pragma once

#include <filesystem>
#include <string_view>

namespace agon::test {

std::filesystem::path source_path(std::string_view name);  // of the checkout
std::filesystem::path golden_path(std::string_view name);  // of tests/golden
std::filesystem::path launcher_path();                     // agon-sandbox

}  // namespace agon::test
