#include "sandbox/launcher/isolation/landlock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cstdint>

#include "core/descriptor.h"

namespace agon::sandbox::launcher {
namespace {

// linux/landlock.h of Debian 12 ends at version 2.
struct Ruleset {
  std::uint64_t files, network, scope;
};
struct __attribute__((packed)) PathRule {
  std::uint64_t allowed;
  std::int32_t folder;
};
constexpr std::uint64_t kExecute = 1 << 0, kWriteFile = 1 << 1, kReadFile = 1 << 2, kReadFolder = 1 << 3,
                        kMakeChar = 1 << 6, kMakeBlock = 1 << 11, kRefer = 1 << 13, kTruncate = 1 << 14,
                        kIoctl = 1 << 15;
constexpr std::uint64_t kFileRights = kExecute | kWriteFile | kReadFile | kTruncate | kIoctl;

std::uint64_t file_rights(int version) {
  std::uint64_t rights = kRefer - 1;  // all of version 1
  if (version >= 2) rights |= kRefer;
  if (version >= 3) rights |= kTruncate;
  if (version >= 5) rights |= kIoctl;
  return rights;
}

void allow(const Descriptor& ruleset, const std::string& path, std::uint64_t rights) {
  const Descriptor folder(open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!folder) return;
  struct stat status {};
  checked(fstat(folder.get(), &status), "fstat " + path);
  if (!S_ISDIR(status.st_mode)) rights &= kFileRights;
  const PathRule rule{rights, folder.get()};
  checked(syscall(SYS_landlock_add_rule, ruleset.get(), 1 /* path beneath */, &rule, 0), "landlock_add_rule " + path);
}

}  // namespace

int landlock_version() {
  const long version = syscall(SYS_landlock_create_ruleset, nullptr, 0, 1 /* ask for the version */);
  return version < 0 ? 0 : static_cast<int>(version);
}

void restrict_files(const LandlockRules& rules) {
  const int version = landlock_version();
  if (version == 0)
    throw std::system_error(ENOSYS, std::generic_category(), "this kernel has no Landlock, which tier B needs");
  const std::uint64_t all = file_rights(version);
  const Ruleset handled{all, version >= 4 ? 3u : 0u, version >= 6 ? 3u : 0u};
  const std::size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
  const Descriptor ruleset(
      static_cast<int>(checked(syscall(SYS_landlock_create_ruleset, &handled, size, 0), "landlock_create_ruleset")));
  const std::uint64_t read = kExecute | kReadFile | kReadFolder;
  for (const std::string& path : rules.readable) allow(ruleset, path, read);
  for (const std::string& path : rules.devices) allow(ruleset, path, (read | kWriteFile | kTruncate) & all);
  for (const std::string& path : rules.writable) allow(ruleset, path, all & ~(kMakeChar | kMakeBlock));
  checked(syscall(SYS_landlock_restrict_self, ruleset.get(), 0), "landlock_restrict_self");
}

}  // namespace agon::sandbox::launcher
