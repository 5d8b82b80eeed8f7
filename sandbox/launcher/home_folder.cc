#include "sandbox/launcher/home_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <functional>

#include "sandbox/launcher/copy_folder.h"

namespace agon::sandbox::launcher {
namespace {

constexpr const char* kForks = "forks";
constexpr std::size_t kDeepest = 128;  // folders that are open at once while files are counted

Descriptor open_folder(int parent, const char* name) {
  return Descriptor(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

bool is_folder(const struct stat& status) { return S_ISDIR(status.st_mode); }

// Empties `folder`: what is no folder goes, folders move to `top` under a fresh name, so that depth costs nothing.
void flatten(int folder, int top, int& moved) {
  for_each_entry(folder, [&](const char* name) {
    struct stat status {};
    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return;
    if (!is_folder(status)) {
      unlinkat(folder, name, 0);
      return;
    }
    fchmodat(folder, name, 0700, 0);
    if (folder != top) renameat(folder, name, top, fmt::format("moved-{}", ++moved).c_str());
  });
}

}  // namespace

HomeFolder::HomeFolder(std::string path, const HomeFolder* parent) : path_(std::move(path)) {
  checked(mkdir(path_.c_str(), 0700), "making " + path_);
  try {
    folder_ =
        Descriptor(checked(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), "opening " + path_));
    checked(mkdirat(folder_.get(), kForks, 0700), "making a folder");
    for (const char* name : kHomeFolders) {
      checked(mkdirat(folder_.get(), name, 0700), "making a folder");
      if (!parent) continue;
      const Descriptor from = open_folder(parent->folder_.get(), name);
      const Descriptor to = open_folder(folder_.get(), name);
      if (from && to) copy_folder(from.get(), to.get());
    }
  } catch (...) {
    remove_folder(path_);
    throw;
  }
}

HomeFolder::~HomeFolder() { remove_folder(path_); }

std::string HomeFolder::path_of_fork(int session) const { return fmt::format("{}/{}/{}", path_, kForks, session); }

FilesUse files_use(const Descriptor& folder, std::int64_t most_files) {
  FilesUse use;
  const std::function<void(int, std::size_t)> count = [&](int here, std::size_t depth) {
    for_each_entry(here, [&](const char* name) {
      struct stat status {};
      if (use.files > most_files || fstatat(here, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return;
      ++use.files;
      use.bytes += status.st_blocks * 512;
      if (!is_folder(status)) return;
      if (depth == kDeepest) use.files = most_files + 1;  // nobody can say what lies there
      if (const Descriptor inner = open_folder(here, name)) count(inner.get(), depth + 1);
    });
  };
  for (const char* name : kHomeFolders)
    if (const Descriptor inner = open_folder(folder.get(), name)) count(inner.get(), 0);
  return use;
}

void remove_folder(const std::string& path) {
  const Descriptor top(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  int moved = 0;
  for (bool again = static_cast<bool>(top); again;) {
    again = false;
    flatten(top.get(), top.get(), moved);
    for_each_entry(top.get(), [&](const char* name) {
      if (const Descriptor inner = open_folder(top.get(), name)) flatten(inner.get(), top.get(), moved);
      again = unlinkat(top.get(), name, AT_REMOVEDIR) == 0 || again;
    });
  }
  rmdir(path.c_str());
}

}  // namespace agon::sandbox::launcher
