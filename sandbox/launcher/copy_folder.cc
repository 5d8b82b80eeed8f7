#include "sandbox/launcher/copy_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include <array>
#include <memory>

#include "sandbox/launcher/descriptor.h"

namespace agon::sandbox::launcher {
namespace {

constexpr int kDeepest = 64;  // folders in folders

void copy_bytes(int from, int to) {
  off_t at = 0;
  const off_t size = lseek(from, 0, SEEK_END);
  checked(ftruncate(to, size), "ftruncate");
  while ((at = lseek(from, at, SEEK_DATA)) >= 0 && at < size) {
    const off_t end = lseek(from, at, SEEK_HOLE);
    checked(lseek(to, at, SEEK_SET), "lseek");
    while (at < end) {
      if (checked(sendfile(to, from, &at, static_cast<std::size_t>(end - at)), "copying the workspace") == 0) return;
    }
  }
}

void copy_entry(int from, int to, const char* name, int depth) {
  struct stat status {};
  if (fstatat(from, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return;  // gone meanwhile
  const mode_t mode = status.st_mode & 07777;
  if (S_ISLNK(status.st_mode)) {
    std::array<char, 4097> target{};
    if (readlinkat(from, name, target.data(), target.size() - 1) >= 0)
      checked(symlinkat(target.data(), to, name), "symlink");
  } else if (S_ISFIFO(status.st_mode)) {
    checked(mkfifoat(to, name, mode), "mkfifo");
  } else if (S_ISDIR(status.st_mode)) {
    const Descriptor inner(openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!inner) return;
    checked(mkdirat(to, name, 0700), "mkdir");
    const Descriptor made(
        checked(openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), "opening a folder"));
    copy_folder(inner.get(), made.get(), depth + 1);
    checked(fchmod(made.get(), mode), "chmod");
  } else if (S_ISREG(status.st_mode)) {
    const Descriptor old(openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!old) return;
    const Descriptor made(checked(openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), "creating a file"));
    copy_bytes(old.get(), made.get());
    checked(fchmod(made.get(), mode), "chmod");
    const timespec times[2] = {status.st_atim, status.st_mtim};
    futimens(made.get(), times);
  }
}

}  // namespace

void for_each_entry(int folder, const std::function<void(const char* name)>& use) {
  const int own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);  // with a place of its own in the listing
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(own < 0 ? nullptr : fdopendir(own), closedir);
  while (const dirent* entry = entries ? readdir(entries.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") use(entry->d_name);
  }
}

void copy_folder(int from, int to, int depth) {
  if (depth > kDeepest)
    throw std::system_error(ELOOP, std::generic_category(), fmt::format("folders deeper than {}", kDeepest));
  for_each_entry(from, [&](const char* name) { copy_entry(from, to, name, depth); });
}

}  // namespace agon::sandbox::launcher
