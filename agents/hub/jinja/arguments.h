// agents/hub/jinja/arguments.h - the arguments of a call to a function, method, filter or test.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agents/hub/jinja/value.h"

namespace agon::agents::jinja {

struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> keywords;
};

// Arguments by the names of their parameters.
class BoundArguments {
 public:
  // Throws Error for an argument that is not a parameter of `callee`.
  BoundArguments(std::string_view callee, const Arguments& arguments,
                 std::initializer_list<std::string_view> parameters);
  const Value* find(std::size_t parameter) const { return values_[parameter]; }  // nullptr: not given
  const Value& required(std::size_t parameter) const;                            // throws Error if not given
  const Text& text(std::size_t parameter) const;                                 // throws Error for other kinds
  std::optional<std::string_view> text_or_none(std::size_t parameter) const;     // nullopt: none, or not given
  bool flag(std::size_t parameter, bool standard) const;
  std::int64_t whole(std::size_t parameter, std::int64_t standard) const;

 private:
  [[noreturn]] void refuse(std::size_t parameter, std::string_view wanted) const;
  std::string callee_;
  std::vector<std::string_view> names_;
  std::vector<const Value*> values_;
};

}  // namespace agon::agents::jinja
