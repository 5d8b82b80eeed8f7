// agents/hub/jinja/parser.h - reads the source of a template into its syntax tree.
#pragma once

#include <string_view>

#include "agents/hub/jinja/syntax.h"

namespace agon::agents::jinja {

// Throws Error "line 3: ..." for a source that is no template, for a statement, filter or test that is not known, and
// for one that nests too deep.
Body parse_template(std::string_view source);

}  // namespace agon::agents::jinja
