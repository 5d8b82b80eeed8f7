#include "env/env.h"

namespace agon::env {

std::string_view to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::calculation:
      return "calculation";
    case ErrorKind::misread_value:
      return "misread_value";
    case ErrorKind::wrong_object:
      return "wrong_object";
    case ErrorKind::wrong_condition:
      return "wrong_condition";
    case ErrorKind::unjustified_jump:
      return "unjustified_jump";
  }
  return "";
}

std::optional<ErrorKind> error_kind_of(std::string_view name) {
  for (const ErrorKind kind : kErrorKinds)
    if (name == to_string(kind)) return kind;
  return std::nullopt;
}

std::string_view to_string(StepKind kind) { return kind == StepKind::perception ? "perception" : "reasoning"; }

std::string_view to_string(Split split) {
  return split == Split::train ? "train" : split == Split::validation ? "validation" : "test";
}

}  // namespace agon::env
