#include "tests/sandbox/abuse_runner/launcher_copy.h"

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "core/error.h"
#include "paths.h"

namespace agon::sandbox::abuse {
namespace fs = std::filesystem;

LauncherCopy::LauncherCopy(uid_t user) {
  std::string name = fs::temp_directory_path() / "agon-abuse-launcher-XXXXXX";
  if (!mkdtemp(name.data())) throw Error("abuse: no folder {}: {}", name, std::strerror(errno));
  folder_ = name;
  fs::permissions(folder_, fs::perms(0755));  // under root, another user starts the launcher within bwrap
  const fs::path from = agon::test::launcher_path().parent_path();
  for (const char* file : {"agon-sandbox", "libagon_guest.so"}) fs::copy_file(from / file, folder_ / file);
  if (chown(name.c_str(), user, user) != 0) throw Error("abuse: chown {}: {}", name, std::strerror(errno));
}

LauncherCopy::~LauncherCopy() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

}  // namespace agon::sandbox::abuse
