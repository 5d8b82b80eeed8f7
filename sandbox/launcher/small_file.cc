#include "sandbox/launcher/small_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "core/descriptor.h"

namespace agon::sandbox::launcher {

std::string read_all(int descriptor) {
  std::string text;
  char piece[4096];
  ssize_t got = 0;
  while ((got = read(descriptor, piece, sizeof piece)) > 0) text.append(piece, static_cast<std::size_t>(got));
  return text;
}

std::optional<std::string> read_small_file(int folder, const std::string& path) {
  const Descriptor file(openat(folder, path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return std::nullopt;
  return read_all(file.get());
}

void write_small_file(int folder, const std::string& path, std::string_view text) {
  const Descriptor file(checked(openat(folder, path.c_str(), O_WRONLY | O_CLOEXEC), "opening " + path));
  checked(write(file.get(), text.data(), text.size()), "writing " + path);
}

Descriptor memory_file(const char* name, std::string_view content) {
  Descriptor file(static_cast<int>(checked(syscall(SYS_memfd_create, name, MFD_CLOEXEC), "memfd_create")));
  for (std::string_view rest = content; !rest.empty();)  // in parts if the size of files is limited, until an error
    rest.remove_prefix(
        static_cast<std::size_t>(checked(write(file.get(), rest.data(), rest.size()), "writing a file in memory")));
  checked(lseek(file.get(), 0, SEEK_SET), "lseek");
  return file;
}

}  // namespace agon::sandbox::launcher
