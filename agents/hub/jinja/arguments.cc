#include "agents/hub/jinja/arguments.h"

#include <algorithm>

#include "core/error.h"

namespace agon::agents::jinja {

BoundArguments::BoundArguments(std::string_view callee, const Arguments& arguments,
                               std::initializer_list<std::string_view> parameters)
    : callee_(callee), names_(parameters), values_(parameters.size(), nullptr) {
  if (arguments.positional.size() > names_.size())
    throw Error("{} takes at most {} arguments, {} are given", callee, names_.size(), arguments.positional.size());
  for (std::size_t i = 0; i < arguments.positional.size(); ++i) values_[i] = &arguments.positional[i];
  for (const auto& [keyword, value] : arguments.keywords) {
    const auto name = std::find(names_.begin(), names_.end(), keyword);
    if (name == names_.end()) throw Error("{} has no argument '{}'", callee, keyword);
    values_[static_cast<std::size_t>(name - names_.begin())] = &value;
  }
}

void BoundArguments::refuse(std::size_t parameter, std::string_view wanted) const {
  if (values_[parameter] == nullptr) throw Error("{} needs the argument '{}'", callee_, names_[parameter]);
  check_defined(*values_[parameter]);
  throw Error("{}: the argument '{}' is of kind {}, not {}", callee_, names_[parameter], kind_name(*values_[parameter]),
              wanted);
}

const Value& BoundArguments::required(std::size_t parameter) const {
  if (values_[parameter] == nullptr) refuse(parameter, "");
  return *values_[parameter];
}

const Text& BoundArguments::text(std::size_t parameter) const {
  if (values_[parameter] == nullptr || values_[parameter]->text() == nullptr) refuse(parameter, "str");
  return *values_[parameter]->text();
}

std::optional<std::string_view> BoundArguments::text_or_none(std::size_t parameter) const {
  if (values_[parameter] == nullptr || values_[parameter]->is_none()) return std::nullopt;
  return text(parameter).view();
}

bool BoundArguments::flag(std::size_t parameter, bool standard) const {
  return values_[parameter] == nullptr ? standard : is_true(*values_[parameter]);
}

std::int64_t BoundArguments::whole(std::size_t parameter, std::int64_t standard) const {
  if (values_[parameter] == nullptr) return standard;
  if (!values_[parameter]->is_int() && !values_[parameter]->is_bool()) refuse(parameter, "int");
  return values_[parameter]->whole();
}

}  // namespace agon::agents::jinja
