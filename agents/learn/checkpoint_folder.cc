#include "agents/learn/checkpoint_folder.h"

namespace agon::agents {

namespace fs = std::filesystem;

void write_checkpoint(const fs::path& output, const std::function<void(const fs::path&)>& fill) {
  const fs::path folder = output / "checkpoint", fresh = output / "checkpoint.new", old = output / "checkpoint.old";
  fs::remove_all(fresh);
  fs::create_directories(fresh);
  fill(fresh);
  fs::remove_all(old);
  if (fs::exists(folder)) fs::rename(folder, old);
  fs::rename(fresh, folder);
  fs::remove_all(old);
}

fs::path find_checkpoint(const fs::path& output) {
  const fs::path folder = output / "checkpoint", old = output / "checkpoint.old";
  if (!fs::exists(folder) && fs::exists(old)) fs::rename(old, folder);
  return fs::exists(folder) ? folder : fs::path();
}

}  // namespace agon::agents
