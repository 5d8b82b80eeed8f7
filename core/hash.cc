#include "core/hash.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <fstream>

#include "core/error.h"

namespace agon {

std::string Hash128::hex() const { return fmt::format("{:016x}{:016x}", high, low); }

Hash128 hash_bytes(std::span<const std::uint8_t> bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.high64, hash.low64};
}

std::uint64_t hash_text(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

std::uint64_t hash_ends(const std::filesystem::path& file, std::uintmax_t part) {
  std::error_code code;
  const std::uintmax_t size = std::filesystem::file_size(file, code);
  std::ifstream stream(file, std::ios::binary);
  if (code || !stream) throw Error("{}: cannot be read. Check the path.", file.string());
  std::string seen(std::min(size, 2 * part), '\0');
  const auto first = static_cast<std::streamsize>(std::min(size, part));
  const auto last = static_cast<std::streamsize>(seen.size()) - first;
  stream.read(seen.data(), first);
  stream.seekg(static_cast<std::streamoff>(size) - last);
  stream.read(seen.data() + first, last);
  if (!stream) throw Error("{}: cannot be read. Check the path.", file.string());
  return hash_text(fmt::format("{} {}", size, seen));
}

}  // namespace agon
