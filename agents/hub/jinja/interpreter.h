// agents/hub/jinja/interpreter.h - runs the syntax tree of a template.
#pragma once

#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "agents/hub/jinja/budget.h"
#include "agents/hub/jinja/syntax.h"
#include "agents/hub/jinja/value.h"

namespace agon::agents::jinja {

using Variables = std::vector<std::pair<std::string, Value>>;

// Returns the text that the body prints. strftime_now() formats `now`. Throws Error "line 3: ..." if the template calls
// raise_exception, fails, or exceeds a limit.
Text run_template(const Body& body, const Variables& variables, const TemplateLimits& limits, std::time_t now);

}  // namespace agon::agents::jinja
