// agents/hub/jinja/lexer.h - cuts a template into data and the tokens of its blocks, with the white space removed that
// transformers has removed: trim_blocks, lstrip_blocks, "{%-" and "-%}", and the line break at the end.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agon::agents::jinja {

struct Token {
  enum class Kind { data, block_begin, block_end, output_begin, output_end, name, string, integer, real, symbol, end };
  Kind kind = Kind::end;
  std::string text;  // of a string: what it means, escapes resolved
  int line = 1;
};

// A token of kind `end` is the last. Throws Error "line 3: ...".
std::vector<Token> tokenize(std::string_view source);

}  // namespace agon::agents::jinja
