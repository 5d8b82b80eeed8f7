// agents/hub/jinja/methods.h - attributes, items and methods of template values, looked up as jinja2 does for Python
// values.
#pragma once

#include <string_view>

#include "agents/hub/jinja/arguments.h"
#include "agents/hub/jinja/budget.h"
#include "agents/hub/jinja/value.h"

namespace agon::agents::jinja {

// object.name: a method takes precedence over a dictionary's key. Undefined if there is neither; throws Error if the
// object itself is undefined.
Value get_attribute(const Value& object, std::string_view name);
// object[key]: a dictionary's key takes precedence over a method.
Value get_item(const Value& object, const Value& key);
// object[begin:end:step]; begin, end and step may be none.
Value get_slice(const Value& object, const Value& begin, const Value& end, const Value& step);
// REQUIRES: get_attribute() returned this method.
Value call_method(const Value& self, std::string_view name, const Arguments& arguments, TemplateBudget& budget);
// Charges the budget for a new value.
void charge(const Value& value, TemplateBudget& budget);

}  // namespace agon::agents::jinja
