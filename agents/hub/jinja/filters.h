// agents/hub/jinja/filters.h - the filters (value | name) and tests (value is name) of jinja2 that chat templates use,
// with transformers' own tojson.
#pragma once

#include <string_view>

#include "agents/hub/jinja/arguments.h"
#include "agents/hub/jinja/budget.h"
#include "agents/hub/jinja/value.h"

namespace agon::agents::jinja {

bool is_filter(std::string_view name);
bool is_test(std::string_view name);
// Throw Error for an unknown name (an argument of map() or select()) and for values that the filter or test does not
// accept. "safe" returns its text unchanged, because agon never escapes.
Value apply_filter(std::string_view name, const Value& input, const Arguments& arguments, TemplateBudget& budget);
bool apply_test(std::string_view name, const Value& input, const Arguments& arguments, TemplateBudget& budget);

}  // namespace agon::agents::jinja
