// tests/support/browser.h - loads a page in headless Chromium.
#pragma once

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/file.h"
#include "core/text.h"

namespace agon::test {

inline std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// The page's DOM after its script has run, and what Chromium logged from it.
struct Loaded {
  std::string dom, console;
};
inline Loaded load(const std::filesystem::path& folder, const std::string& page) {
  write_file_atomically((folder / "page.html").string(), page);
  const std::string path = folder.string();
  const std::string command = "timeout 500 chromium --headless --no-sandbox --disable-gpu --user-data-dir='" + path +
                              "/profile' --enable-logging=stderr --dump-dom 'file://" + path + "/page.html' >'" + path +
                              "/dom' 2>'" + path + "/log'";
  REQUIRE(std::system(command.c_str()) == 0);
  Loaded loaded{read_file(path + "/dom"), {}};
  std::ifstream log(folder / "log");
  for (std::string line; std::getline(log, line);)
    if (line.find("CONSOLE") != std::string::npos) loaded.console += line + "\n";
  return loaded;
}

}  // namespace agon::test
