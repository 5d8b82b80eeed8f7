// agents/hub/jinja/methods.h - attributes, items and methods of values, as jinja2 finds them on those of Python.
#pragma once

#include <string_view>

#include "agents/hub/jinja/arguments.h"
#include "agents/hub/jinja/budget.h"
#include "agents/hub/jinja/value.h"

namespace agon::agents::jinja {

// object.name: a method before a key of a dictionary. Undefined if there is neither; throws Error if the object is
// undefined itself.
Value get_attribute(const Value& object, std::string_view name);
// object[key]: a key of a dictionary before a method.
Value get_item(const Value& object, const Value& key);
// object[begin:end:step], of which any may be none.
Value get_slice(const Value& object, const Value& begin, const Value& end, const Value& step);
// REQUIRES: get_attribute() gave the method.
Value call_method(const Value& self, std::string_view name, const Arguments& arguments, TemplateBudget& budget);
// Accounts for a value that was made.
void charge(const Value& value, TemplateBudget& budget);

}  // namespace agon::agents::jinja
