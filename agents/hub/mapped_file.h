// agents/hub/mapped_file.h - memory-maps a file for reading, without copying it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

namespace agon::agents {

// Owns the mapping. Throws Error for anything but a regular file, and for one that cannot be opened or mapped.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  std::span<const std::uint8_t> bytes() const { return {static_cast<const std::uint8_t*>(data_), size_}; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

// Drops the pages of a mapped file that lie entirely in `bytes` from this process; they are read again when needed.
void release_pages(std::span<const std::uint8_t> bytes);

}  // namespace agon::agents
