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
// Throw Error for a name that is not known (an argument of map() or select()) and for values that they do not take.
// "safe" gives its text: nothing is escaped here.
Value apply_filter(std::string_view name, const Value& input, const Arguments& arguments, TemplateBudget& budget);
bool apply_test(std::string_view name, const Value& input, const Arguments& arguments, TemplateBudget& budget);

}  // namespace agon::agents::jinja
