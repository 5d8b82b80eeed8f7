// core/error.h - the one exception of agon: a broken set-up (file, checkpoint, config, folder). Expected outcomes are
// values; a caller's bug asserts. The text says what is wrong, with the values, and what to do next.
//   throw Error("weights: {}: header says {} bytes, the file has {}. Is the download complete?", path, claimed, size);
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace agon {

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& what) : std::runtime_error(what) {}
  template <typename First, typename... Rest>
  Error(fmt::format_string<First, Rest...> format, First&& first, Rest&&... rest)
      : std::runtime_error(fmt::format(format, std::forward<First>(first), std::forward<Rest>(rest)...)) {}
};

}  // namespace agon
