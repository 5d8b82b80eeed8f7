// core/error.h - the one exception of agon, for a broken set-up (file, checkpoint, config, folder). Expected outcomes
// are values; a caller's bug fails an assert. The text says what is wrong, with the values, and what to do next.
//   throw Error("weights: {}: header says {} bytes, the file has {}. Is the download complete?", path, claimed, size);
// The first argument is always a format string, checked at compile time. A finished text does not compile as one: write
// Error("{}", text).
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace agon {

class Error : public std::runtime_error {
 public:
  template <typename... Values>
  explicit Error(fmt::format_string<Values...> format, Values&&... values)
      : std::runtime_error(fmt::format(format, std::forward<Values>(values)...)) {}
  template <typename Text>
  requires(std::same_as<Text, std::string> || std::same_as<Text, std::string_view> ||
           std::same_as<Text, const char*>) explicit Error(const Text& ready) = delete;
};

}  // namespace agon
