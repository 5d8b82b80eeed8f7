// core/base64.h - converts bytes to base64 text and back (RFC 4648, with padding).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace agon {

std::string base64(std::span<const std::uint8_t> bytes);
// Nothing for a text that is not base64: other characters, padding elsewhere than at its end, a length that is not a
// multiple of four.
std::optional<std::vector<std::uint8_t>> bytes_of_base64(std::string_view text);

}  // namespace agon
