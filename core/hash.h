// core/hash.h - content hashes (XXH3, 128 bit). For identity, not for security.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace agon {

struct Hash128 {
  std::uint64_t high = 0, low = 0;
  auto operator<=>(const Hash128&) const = default;
  std::string hex() const;  // 32 lower-case digits
};

Hash128 hash_bytes(std::span<const std::uint8_t> bytes);
std::uint64_t hash_text(std::string_view text);
// The hash of a file's size and of its first and last `part` bytes: enough to tell files apart without reading them
// whole. Throws Error if the file cannot be read.
std::uint64_t hash_ends(const std::filesystem::path& file, std::uintmax_t part);

}  // namespace agon
