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
  std::fflush(stdout);  // the reader of a pipe sees it at once; main() reports a closed pipe
}

void print_json(const Json& json) { print_text(json_text(json) + "\n"); }

std::string json_text(const Json& json) { return with_json_escapes(to_text(json, 2)); }

// Such characters occur only in strings, and printable() writes each as \xNN or \uNNNN.
std::string with_json_escapes(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  for_each_character(json, [&text](std::int32_t character, std::string_view letter) {
    const std::string safe = character == 0x7F || letter.size() > 1 ? printable(letter) : std::string(letter);
    text += safe.starts_with("\\x") ? "\\u00" + safe.substr(2) : safe;
  });
  return text;
}

}  // namespace agon::cli
