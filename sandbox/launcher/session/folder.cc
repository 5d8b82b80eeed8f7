#include "sandbox/launcher/session/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>

#include <memory>

namespace agon::sandbox::launcher {
namespace {

constexpr int kOpen = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

// Opens the folder itself, with its own position in the listing. O_NOATIME hides the read from code that watches access
// times.
int open_unnoticed(const Folder& folder) {
  const int own = openat(folder.get(), ".", kOpen | O_NOATIME);
  return own >= 0 || errno != EPERM ? own : openat(folder.get(), ".", kOpen);
}

// A guest may have removed its own rights to a folder. The path through /proc leads to the open folder, whatever has
// its name now.
Descriptor open_with_rights(int parent, const char* name) {
  Descriptor folder(openat(parent, name, kOpen));
  if (folder || errno != EACCES) return folder;
  const Descriptor closed(openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!closed || chmod(fmt::format("/proc/self/fd/{}", closed.get()).c_str(), 0700) != 0) return Descriptor();
  return Descriptor(openat(closed.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

// Empties `folder`: folders move to `top` under a new name, so that depth costs nothing; other entries are removed.
void flatten(const Folder& folder, const Folder& top, int& moved) {
  fchmod(folder.get(), 0700);
  folder.for_each([&](const char* name) {
    const auto status = folder.status(name);
    if (!status) return;
    if (!S_ISDIR(status->st_mode))
      unlinkat(folder.get(), name, 0);
    else if (folder.get() != top.get() && unlinkat(folder.get(), name, AT_REMOVEDIR) != 0) {
      open_with_rights(folder.get(), name);  // a folder that cannot be written cannot be moved
      renameat(folder.get(), name, top.get(), fmt::format("moved-{}", ++moved).c_str());
    }
  });
}

}  // namespace

Folder Folder::at(const std::string& path) {
  return Folder(Descriptor(checked(open(path.c_str(), kOpen), "opening " + path)));
}

Folder::Identity Folder::identity() const {
  struct stat status {};
  return fstat(get(), &status) == 0 ? Identity{status.st_dev, status.st_ino} : Identity{};
}

std::optional<struct stat> Folder::status(const char* name) const {
  struct stat status {};
  if (fstatat(get(), name, &status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  return status;
}

void Folder::for_each(const std::function<void(const char* name)>& use) const {
  for_each_until([&use](const char* name) { return use(name), false; });
}

void Folder::for_each_until(const std::function<bool(const char* name)>& use) const {
  const int own = open_unnoticed(*this);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(own < 0 ? nullptr : fdopendir(own), closedir);
  while (const dirent* entry = entries ? readdir(entries.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != ".." && use(entry->d_name)) return;
  }
}

std::optional<Folder> Folder::inner(const char* name) const {
  Descriptor folder(openat(get(), name, kOpen));
  return folder ? std::optional<Folder>(std::move(folder)) : std::nullopt;
}

Folder Folder::make(const char* name, mode_t mode) const {
  checked(mkdirat(get(), name, mode), std::string("making the folder ") + name);
  return Folder(Descriptor(checked(openat(get(), name, kOpen), std::string("opening the folder ") + name)));
}

// Each round moves deeper contents up by one level. It ends when nothing more can be removed.
void Folder::empty() const {
  int moved = 0;
  for (bool again = true; again;) {
    again = false;
    flatten(*this, *this, moved);
    for_each([&](const char* name) {
      if (const Folder below{open_with_rights(get(), name)}) flatten(below, *this, moved);
      again = unlinkat(get(), name, AT_REMOVEDIR) == 0 || again;
    });
  }
}

void Folder::remove(const char* name) const {
  if (const Folder below{open_with_rights(get(), name)}) below.empty();
  if (unlinkat(get(), name, AT_REMOVEDIR) != 0 && errno == ENOTDIR) unlinkat(get(), name, 0);
}

}  // namespace agon::sandbox::launcher
