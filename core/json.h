// core/json.h - the JSON value of agon: nlohmann/json with keys in the order written. Also the one way to print an
// untrusted value, and the one way to read an index, a size or a count from an untrusted number. Texts are parsed in
// core/json_parse.h.
#pragma once

#include <concepts>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/error.h"

namespace agon {

using Json = nlohmann::ordered_json;

// The JSON text: on one line, or indented by `indent` blanks per level. Bytes that are not UTF-8, for which dump()
// throws, become U+FFFD.
template <typename AnyJson>
std::string to_text(const AnyJson& json, int indent = -1) {
  return json.dump(indent, ' ', false, AnyJson::error_handler_t::replace);
}
// The same on one line and in ASCII: other characters as \uXXXX.
template <typename AnyJson>
std::string to_ascii(const AnyJson& json) {
  return json.dump(-1, ' ', true, AnyJson::error_handler_t::replace);
}

// The whole number that `json` is, if it lies in [low, high]. Nothing for any other value: a fraction, 2.0, a number
// beyond 64 bits, a string. get<int>() would silently change some of them (2^64 - 1 becomes -1, 2^32 + 1 becomes 1).
template <std::integral Number, typename AnyJson>
std::optional<Number> whole_number(const AnyJson& json, Number low, Number high) {
  const auto in_range = [&](auto value) -> std::optional<Number> {
    if (std::cmp_less(value, low) || std::cmp_greater(value, high)) return std::nullopt;
    return static_cast<Number>(value);
  };
  if (json.is_number_unsigned()) return in_range(json.template get<typename AnyJson::number_unsigned_t>());
  if (json.is_number_integer()) return in_range(json.template get<typename AnyJson::number_integer_t>());
  return std::nullopt;
}

// The same; throws Error "picture is 1.5, not a whole number from 1 to 3" for any other value.
template <std::integral Number, typename AnyJson>
Number whole_number_or_throw(const AnyJson& json, std::string_view what, Number low, Number high) {
  if (const std::optional<Number> number = whole_number(json, low, high)) return *number;
  const std::string value = to_ascii(json);
  throw Error("{} is {}{}, not a whole number from {} to {}", what, value.substr(0, 60), value.size() > 60 ? "..." : "",
              low, high);
}

}  // namespace agon

#ifndef __OPTIMIZE__
// Builds without optimisation compile this class once, in core/json.cc. Otherwise it would take a quarter of the
// compile time of each file that uses it.
extern template class nlohmann::basic_json<nlohmann::ordered_map>;
#endif
