#include "sandbox/launcher/session/copy_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <array>

namespace agon::sandbox::launcher {
namespace {

constexpr int kDeepest = 64;  // folders in folders

std::system_error full(const char* what) { return {ENOSPC, std::generic_category(), what}; }

Folder::Identity identity_of(const struct stat& status) { return {status.st_dev, status.st_ino}; }

// While this exists, the owner of a file or folder has the permissions that its mode denies.
class Opened {
 public:
  Opened(const Folder& from, const char* name, const struct stat& status, mode_t needed) {
    if ((status.st_mode & needed) == needed || status.st_uid != geteuid()) return;
    file_ = Descriptor(openat(from.get(), name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat now {};
    const bool is_same = file_ && fstat(file_.get(), &now) == 0 && identity_of(now) == identity_of(status);
    if (!is_same || chmod(path().c_str(), (mode_ = now.st_mode & 07777) | needed) != 0) file_.reset();
  }
  ~Opened() {
    if (file_ && chmod(path().c_str(), mode_) != 0) file_.reset();
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

 private:
  std::string path() const { return fmt::format("/proc/self/fd/{}", file_.get()); }
  Descriptor file_;
  mode_t mode_ = 0;
};

}  // namespace

void FolderCopy::add(const Folder& from, const Folder& to) {
  top_ = to.get();
  copy(from, to, "", 0);
}

void FolderCopy::copy(const Folder& from, const Folder& to, const std::string& path, int depth) {
  if (depth > kDeepest)
    throw std::system_error(ELOOP, std::generic_category(), fmt::format("folders deeper than {}", kDeepest));
  from.for_each([&](const char* name) { copy_entry(from, to, name, path + name, depth); });
}

void FolderCopy::copy_entry(const Folder& from, const Folder& to, const char* name, const std::string& path,
                            int depth) {
  const auto status = from.status(name);
  if (!status) return;  // it was removed meanwhile
  if (--files_ < 0) throw full("copying the workspace: too many files");
  const mode_t mode = status->st_mode & 07777;
  if (S_ISLNK(status->st_mode)) {
    std::array<char, 4097> target{};
    if (readlinkat(from.get(), name, target.data(), target.size() - 1) >= 0)
      checked(symlinkat(target.data(), to.get(), name), "symlink");
  } else if (S_ISFIFO(status->st_mode)) {
    checked(mkfifoat(to.get(), name, mode), "mkfifo");
  } else if (S_ISDIR(status->st_mode)) {
    const Opened opened(from, name, *status, S_IRUSR | S_IXUSR);
    const auto inner = from.inner(name);
    if (!inner) return;
    const Folder made = to.make(name);
    copy(*inner, made, path + "/", depth + 1);
    checked(fchmod(made.get(), mode), "chmod");
  } else if (S_ISREG(status->st_mode)) {
    const Opened opened(from, name, *status, S_IRUSR);
    copy_file(from, to, name, path, mode);
  }
}

void FolderCopy::copy_file(const Folder& from, const Folder& to, const char* name, const std::string& path,
                           mode_t mode) {
  const Descriptor old(openat(from.get(), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status {};
  if (!old || fstat(old.get(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  const auto known = copied_.find({status.st_dev, status.st_ino});
  if (known != copied_.end() && link_copy(known->second, to, name)) return;
  const Descriptor made(
      checked(openat(to.get(), name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), "creating a file"));
  copy_bytes(old.get(), made.get());
  checked(fchmod(made.get(), mode), "chmod");
  const timespec times[2] = {status.st_atim, status.st_mtim};
  futimens(made.get(), times);
  struct stat copy {};
  if (status.st_nlink > 1 && fstat(made.get(), &copy) == 0)
    copied_[{status.st_dev, status.st_ino}] = {top_, path, identity_of(copy)};
}

// A guest may be able to write into the copy as well: check that the name still leads to the same file.
bool FolderCopy::link_copy(const Copied& copied, const Folder& to, const char* name) const {
  open_how how{};
  how.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  const Descriptor file(static_cast<int>(syscall(SYS_openat2, copied.top, copied.path.c_str(), &how, sizeof how)));
  struct stat status {};
  if (!file || fstat(file.get(), &status) != 0 || identity_of(status) != copied.identity) return false;
  return linkat(AT_FDCWD, fmt::format("/proc/self/fd/{}", file.get()).c_str(), to.get(), name, AT_SYMLINK_FOLLOW) == 0;
}

void FolderCopy::copy_bytes(int from, int to) {
  off_t at = 0;
  const off_t size = lseek(from, 0, SEEK_END);
  checked(ftruncate(to, size), "ftruncate");
  while ((at = lseek(from, at, SEEK_DATA)) >= 0 && at < size) {
    const off_t end = std::min(size, lseek(from, at, SEEK_HOLE));
    checked(lseek(to, at, SEEK_SET), "lseek");
    while (at < end) {
      const auto piece = static_cast<std::size_t>(std::min<std::int64_t>(end - at, 16 << 20));
      const ssize_t copied = checked(sendfile(to, from, &at, piece), "copying the workspace");
      if (copied == 0) return;
      bytes_ -= copied;
      if (bytes_ < 0) throw full("copying the workspace: more bytes than the session's limit");
    }
  }
}

}  // namespace agon::sandbox::launcher
