// agents/hub/jinja/lexer.h - splits a template into plain text (data) and the tokens of its blocks. It removes the same
// white space as transformers: trim_blocks, lstrip_blocks, "{%-" and "-%}", and the line break at the end.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agon::agents::jinja {

struct Token {
  enum class Kind { data, block_begin, block_end, output_begin, output_end, name, string, integer, real, symbol, end };
  Kind kind = Kind::end;
  std::string text;  // of a string: its value, with escapes resolved
  int line = 1;
};

// The last token has the kind `end`. Throws Error "line 3: ...".
std::vector<Token> tokenize(std::string_view source);

}  // namespace agon::agents::jinja
