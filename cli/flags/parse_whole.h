// cli/flags/parse_whole.h - parses a text that is one number and nothing else: no white space, plus sign or other text.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace agon::cli {

template <typename Number>
std::optional<Number> parse_whole(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

}  // namespace agon::cli
