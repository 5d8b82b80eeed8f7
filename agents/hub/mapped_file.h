// agents/hub/mapped_file.h - a file in memory, read where it lies.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

namespace agon::agents {

// Owns the mapping. Throws Error for what is not a regular file, or cannot be opened.
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

// Takes the pages that lie entirely in `bytes`, of a mapped file, out of this process; they are read again when needed.
void release_pages(std::span<const std::uint8_t> bytes);

}  // namespace agon::agents
