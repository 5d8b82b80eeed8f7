#include "sandbox/launcher/session/session_files.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cctype>

namespace agon::sandbox::launcher {
namespace {

constexpr std::size_t kMostPictures = 1000;

Descriptor open_workspace(const Folder& home, int flags) {
  return Descriptor(
      checked(openat(home.get(), "workspace", flags | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), "opening the workspace"));
}

Descriptor open_beneath(const Folder& home, const std::string& name, int flags) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  how.mode = (flags & O_CREAT) ? 0644 : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  if (name.find('\0') != std::string::npos)
    throw std::system_error(EINVAL, std::generic_category(), "a name with a NUL in it");
  const Descriptor workspace = open_workspace(home, O_PATH);
  Descriptor file(static_cast<int>(
      checked(syscall(SYS_openat2, workspace.get(), name.c_str(), &how, sizeof how), "opening " + name)));
  struct stat status {};
  checked(fstat(file.get(), &status), "fstat " + name);
  if (!S_ISREG(status.st_mode))
    throw std::system_error(EINVAL, std::generic_category(), name + " is not a regular file");
  return file;
}

bool is_picture(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  std::string ending(dot == std::string_view::npos ? "" : name.substr(dot + 1));
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char letter) { return std::tolower(letter); });
  return ending == "png" || ending == "jpg" || ending == "jpeg" || ending == "webp";
}

}  // namespace

void write_file(const Folder& home, const std::string& name, const std::string& bytes) {
  const Descriptor file = open_beneath(home, name, O_WRONLY | O_CREAT);
  checked(ftruncate(file.get(), 0), "truncating " + name);
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t put = ::write(file.get(), bytes.data() + at, bytes.size() - at);
    if (put < 0) {
      const std::system_error why(errno, std::generic_category(), "writing " + name);
      checked(ftruncate(file.get(), 0), "truncating " + name);
      throw why;
    }
    at += static_cast<std::size_t>(put);
  }
}

OpenFile open_file(const Folder& home, const std::string& name, std::int64_t most) {
  OpenFile file{name, open_beneath(home, name, O_RDONLY)};
  struct stat status {};
  checked(fstat(file.descriptor.get(), &status), "fstat " + name);
  if (status.st_size > most) throw std::system_error(EFBIG, std::generic_category(), name);
  file.size = status.st_size;
  return file;
}

std::string read_some(OpenFile& file, std::size_t most) {
  std::string bytes(std::min(most, static_cast<std::size_t>(file.size)), '\0');
  const ssize_t got = read(file.descriptor.get(), bytes.data(), bytes.size());
  bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  file.size -= std::ssize(bytes);
  return bytes;
}

std::string read_file(const Folder& home, const std::string& name, std::int64_t most) {
  OpenFile file = open_file(home, name, most);
  std::string bytes;
  for (std::string piece; !(piece = read_some(file, 1 << 20)).empty();) bytes += piece;
  return bytes;
}

std::map<std::string, FileState> picture_files(const Folder& home) {
  std::map<std::string, FileState> files;
  const Folder workspace(open_workspace(home, O_RDONLY));
  std::size_t looked_at = 0;
  workspace.for_each_until([&](const char* name) {
    if (!is_picture(name)) return false;
    const auto status = workspace.status(name);
    if (status && S_ISREG(status->st_mode) && status->st_size > 0)
      files[name] = {status->st_ino, status->st_size, status->st_mtim.tv_sec, status->st_mtim.tv_nsec};
    return ++looked_at == kMostPictures;
  });
  return files;
}

}  // namespace agon::sandbox::launcher
