#include "cli/output.h"

#include <fmt/format.h>

#include <cstdio>
#include <iostream>

#include "core/text.h"

namespace agon::cli {

void print_text(std::string_view text) {
  const std::string safe = printable(text);
  std::cout.flush();
  std::fwrite(safe.data(), 1, safe.size(), stdout);
  std::fflush(stdout);  // a reader of a pipe sees it at once; main() reports one that is gone
}

void print_json(const Json& json) { print_text(json_text(json) + "\n"); }

std::string json_text(const Json& json) { return with_json_escapes(to_text(json, 2)); }

// Such characters stand in strings alone, and printable() writes each as \xNN or \uNNNN.
std::string with_json_escapes(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  for (std::size_t i = 0; i < json.size();) {
    const auto byte = static_cast<unsigned char>(json[i]);
    const std::size_t size = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    const std::string_view letter = json.substr(i, size);
    const std::string safe = byte == 0x7F || size > 1 ? printable(letter) : std::string(letter);
    text += safe.starts_with("\\x") ? "\\u00" + safe.substr(2) : safe;
    i += letter.size();
  }
  return text;
}

}  // namespace agon::cli
