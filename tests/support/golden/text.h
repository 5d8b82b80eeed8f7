// tests/support/golden/text.h - compares a text with a golden file, so that no change goes unnoticed.
// AGON_UPDATE_GOLDEN=1 rewrites the file.
#pragma once

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/file.h"
#include "core/text.h"
#include "paths.h"

namespace agon::test {

// name: path below tests/golden.
inline void check_golden_text(const std::string& name, const std::string& text) {
  const std::filesystem::path path = golden_path(name);
  if (std::getenv("AGON_UPDATE_GOLDEN")) {
    std::filesystem::create_directories(path.parent_path());
    write_file_atomically(path.string(), text);
  }
  CHECK(read_file(path.string()) == text);
}

}  // namespace agon::test
