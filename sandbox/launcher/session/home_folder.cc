#include "sandbox/launcher/session/home_folder.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "sandbox/launcher/session/copy_folder.h"
#include "sandbox/launcher/supervisor/processes.h"

namespace agon::sandbox::launcher {
namespace {

constexpr std::size_t kDeepest = 128;                          // folders that are open at once while files are counted
constexpr std::int64_t kOwnFolders = 2 + kHomeFolders.size();  // files and forks, and the folders of a home
constexpr std::int64_t kFolderBytes = 4096;                    // maximum bytes of an empty one
constexpr const char* kFiles = "files";
constexpr const char* kForks = "forks";

std::system_error moved(const std::string& path) {
  return {ESTALE, std::generic_category(), "the folder " + path + " is not the session's any more"};
}

// Calls `use` for the deleted regular files that a process has open.
void for_each_open_file(pid_t process, const std::function<void(const struct stat&)>& use) {
  Descriptor table(open(descriptors_folder(process).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!table) return;
  const Folder descriptors(std::move(table));
  descriptors.for_each([&](const char* name) {
    struct stat status {};
    if (fstatat(descriptors.get(), name, &status, 0) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 0)
      use(status);
  });
}

}  // namespace

HomeFolder::HomeFolder(const std::string& folder, int session, const HomeFolder* parent) : folder_(folder) {
  if (parent) names_ = parent->names_;
  if (parent) names_.emplace_back(kForks);
  names_.push_back(std::to_string(session));
  path_ = fmt::format("{}/{}", folder, fmt::join(names_, "/"));
  Folder place = Folder::at(folder);
  if (parent) {
    std::optional<Folder> forks = parent->all().inner(kForks);
    if (!forks) throw moved(parent->path() + "/" + kForks);
    place = std::move(*forks);
  }
  const Folder own = place.make(names_.back().c_str());
  try {
    identity_ = own.identity();
    own.make(kForks);
    const Folder files = own.make(kFiles);
    files_ = files.identity();
    if (parent) return;
    for (const char* name : kHomeFolders) files.make(name);
  } catch (...) {
    place.remove(names_.back().c_str());
    throw;
  }
}

Folder HomeFolder::place() const {
  Folder at = Folder::at(folder_);
  for (std::size_t i = 0; i + 1 < names_.size(); ++i) {
    std::optional<Folder> next = at.inner(names_[i].c_str());
    if (!next) throw moved(path_);
    at = std::move(*next);
  }
  return at;
}

Folder HomeFolder::all() const {
  std::optional<Folder> own = place().inner(names_.back().c_str());
  if (!own || own->identity() != identity_) throw moved(path_);
  return std::move(*own);
}

Folder HomeFolder::files() const {
  std::optional<Folder> files = all().inner(kFiles);
  if (!files || files->identity() != files_) throw moved(files_path());
  return std::move(*files);
}

void HomeFolder::copy_from(const HomeFolder& parent, std::int64_t most_bytes, std::int64_t most_files) const {
  FolderCopy(most_bytes, most_files).add(parent.files(), files());
}

void HomeFolder::move_away() try {
  if (names_.size() == 1) return;
  const std::string name = "ended-" + names_.back();
  const Folder from = place(), top = Folder::at(folder_);
  checked(renameat(from.get(), names_.back().c_str(), top.get(), name.c_str()), "moving " + path_);
  names_ = {name};
  path_ = folder_ + "/" + name;
} catch (const std::system_error&) {  // a folder that a guest has moved is removed with the folder of that session
}

// Only a folder that no guest can reach is removed by name: the session it was forked from may have replaced it.
void HomeFolder::remove() const try {
  const Folder at = place();
  const char* name = names_.back().c_str();
  const bool is_out_of_reach = names_.size() == 1;
  const std::optional<Folder> own = is_out_of_reach ? at.inner(name) : all();
  if (own) own->empty();
  unlinkat(at.get(), name, own ? AT_REMOVEDIR : 0);
} catch (const std::system_error&) {  // as above
}

FilesUse files_use(const Folder& folder, std::int64_t most_files, const std::vector<Folder::Identity>& others,
                   const std::vector<pid_t>& processes) {
  FilesUse use;
  use.files = -kOwnFolders;
  use.bytes = -kOwnFolders * kFolderBytes;
  std::set<ino_t> seen;  // files with several names, or none: their bytes count once
  const auto take = [&](const struct stat& status) {
    ++use.files;
    const bool is_one_name = S_ISDIR(status.st_mode) || status.st_nlink == 1;
    if (is_one_name || seen.insert(status.st_ino).second) use.bytes += status.st_blocks * 512;
  };
  const std::function<void(const Folder&, std::size_t)> count = [&](const Folder& here, std::size_t depth) {
    here.for_each_until([&](const char* name) {
      const auto status = here.status(name);
      const bool is_folder = status && S_ISDIR(status->st_mode);
      const auto inner = is_folder ? here.inner(name) : std::nullopt;
      if (!status || (inner && std::find(others.begin(), others.end(), inner->identity()) != others.end()))
        return false;
      take(*status);
      if (is_folder && depth == kDeepest) use.files = most_files + 1;  // the contents are unknown
      if (inner && depth < kDeepest) count(*inner, depth + 1);
      return use.files > most_files;
    });
  };
  count(folder, 0);
  for (const pid_t process : processes)
    for_each_open_file(process, [&](const struct stat& status) {
      if (status.st_dev == folder.identity().device && !seen.contains(status.st_ino)) take(status);
    });
  return use;
}

std::int64_t mapped_nameless_files(const std::string& folder, const std::vector<pid_t>& processes,
                                   std::int64_t most_bytes) {
  constexpr std::int64_t kLetGo = 2;
  std::map<ino_t, std::int64_t> mapped;
  for (const pid_t process : processes) {
    std::istringstream maps(mappings_text(process));
    for (std::string line; std::getline(maps, line);) {
      if (!line.ends_with(" (deleted)") || line.find(" " + folder + "/") == std::string::npos) continue;
      unsigned long begin = 0, end = 0, inode = 0;
      if (std::sscanf(line.c_str(), "%lx-%lx %*s %*x %*s %lu", &begin, &end, &inode) == 3)
        mapped[inode] += static_cast<std::int64_t>(end - begin);
    }
  }
  std::int64_t bytes = 0;
  for (const auto& [inode, size] : mapped) bytes += size;
  const auto beyond = std::ssize(mapped) - kLetGo;
  return bytes + std::max<std::int64_t>(0, beyond) * most_bytes;
}

}  // namespace agon::sandbox::launcher
