// agents/hub/jinja/parser.h - parses the source of a template into a syntax tree.
#pragma once

#include <string_view>

#include "agents/hub/jinja/syntax.h"

namespace agon::agents::jinja {

// Throws Error "line 3: ..." for a syntax error, for an unknown statement, filter or test, and for a template that is
// nested too deeply.
Body parse_template(std::string_view source);

}  // namespace agon::agents::jinja
