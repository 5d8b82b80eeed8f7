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

// What the body prints. `now` is what strftime_now() formats. Throws Error "line 3: ..." for what the template refuses
// (raise_exception), does wrong or may not do.
Text run_template(const Body& body, const Variables& variables, const TemplateLimits& limits, std::time_t now);

}  // namespace agon::agents::jinja
