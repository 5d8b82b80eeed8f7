// cli/output.h - how the program prints: text from untrusted sources cannot control the terminal.
#pragma once

#include <string>
#include <string_view>

#include "core/json.h"

namespace agon::cli {

void print_text(std::string_view text);  // to standard output, through printable()
void print_json(const Json& json);       // to standard output, indented, with a line break

// The text of a JSON value. Control characters that JSON allows unescaped (DEL, U+0080 to U+009F) and characters that
// change the reading direction are written as escapes; invalid UTF-8 becomes U+FFFD.
std::string json_text(const Json& json);
// The same for JSON text from another writer.
std::string with_json_escapes(std::string_view json);

}  // namespace agon::cli
