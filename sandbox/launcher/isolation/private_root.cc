#include "sandbox/launcher/isolation/private_root.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/mount.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/descriptor.h"
#include "core/error.h"

namespace agon::sandbox::launcher {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStage = "/tmp";  // where the new root is put together, unseen by others

struct Bind {
  std::string path;
  Descriptor tree;  // a copy of the mount, taken before anything is hidden
};

Bind take(const std::string& path, std::uint64_t attributes) {
  Bind bind{path, Descriptor(static_cast<int>(checked(syscall(SYS_open_tree, AT_FDCWD, path.c_str(),
                                                              OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE),
                                                      "open_tree " + path)))};
  mount_attr read_only{MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | attributes, 0, 0, 0};
  checked(syscall(SYS_mount_setattr, bind.tree.get(), "", AT_EMPTY_PATH | AT_RECURSIVE, &read_only, sizeof read_only),
          "mount_setattr " + path);
  return bind;
}

void put(const Bind& bind) {
  const fs::path target = kStage + bind.path;
  fs::create_directories(target.parent_path());
  struct stat status {};
  checked(fstat(bind.tree.get(), &status), "fstat " + bind.path);
  if (S_ISDIR(status.st_mode))
    fs::create_directories(target);
  else
    std::ofstream(target).put('\n');
  checked(syscall(SYS_move_mount, bind.tree.get(), "", AT_FDCWD, target.c_str(), MOVE_MOUNT_F_EMPTY_PATH),
          "move_mount " + bind.path);
}

void write_file(const std::string& name, const std::string& text) { std::ofstream(kStage + name) << text; }

void make_links_and_files() {
  for (const char* name : {"/proc", "/run", "/var", "/home/agent", "/dev", "/etc"})
    fs::create_directories(kStage + std::string(name));
  for (const RootLink& link : root_links()) fs::create_symlink(link.target, kStage + link.name);
  write_file("/etc/passwd", "agent:x:1000:1000:agent:/home/agent:/bin/sh\n");
  write_file("/etc/group", "agent:x:1000:\n");
  write_file("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n");
  write_file("/etc/hosts", "127.0.0.1 localhost\n");
}

void swap_root() {
  checked(chdir(kStage), "chdir");
  checked(syscall(SYS_pivot_root, ".", "."), "pivot_root");
  checked(umount2(".", MNT_DETACH), "umount of the old root");
  checked(chdir("/"), "chdir /");
  mount_attr read_only{MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, 0, 0, 0};
  checked(syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, &read_only, sizeof read_only), "mount_setattr /");
}

// True also for the folder itself.
bool is_beneath(const std::string& path, const std::string& folder) {
  return folder == "/" || (path + "/").starts_with(folder + "/");
}

}  // namespace

std::vector<std::string> program_folders(const std::vector<std::string>& readable) {
  std::vector<std::string> folders = {"/usr",           "/etc/alternatives", "/etc/fonts",     "/etc/ld.so.cache",
                                      "/etc/localtime", "/etc/python3",      "/etc/python3.11"};
  // Links into /usr on Debian, folders on other systems.
  for (const char* name : {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"})
    if (fs::is_directory(name) && !fs::is_symlink(name)) folders.push_back(name);
  for (const std::string& path : readable) {
    for (const char* own : {"/tmp", "/var/tmp", "/home/agent", "/workspace", "/dev", "/proc", "/etc"})
      if (is_beneath(path, own) || is_beneath(own, path))
        throw Error("{} cannot be readable in a sandbox: sessions have a {} of their own. Name another folder", path,
                    own);
    if (!path.starts_with("/usr/")) folders.push_back(path);
  }
  std::erase_if(folders, [](const std::string& path) { return !fs::exists(path); });
  return folders;
}

std::vector<RootLink> root_links() {
  std::vector<RootLink> links = {
      {"/home/agent/workspace", "/workspace"}, {"/home/agent/tmp", "/tmp"},       {"/home/agent/tmp", "/var/tmp"},
      {"/home/agent/shm", "/dev/shm"},         {"/proc/self/fd", "/dev/fd"},      {"/proc/self/fd/0", "/dev/stdin"},
      {"/proc/self/fd/1", "/dev/stdout"},      {"/proc/self/fd/2", "/dev/stderr"}};
  for (const char* name : {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"})
    if (fs::is_symlink(name)) links.push_back({fs::read_symlink(name), name});
  return links;
}

std::vector<std::string> device_files() {
  // Not /dev/zero: a shared mapping of it is memory that no limit counts (seccomp_policy.cc, mappings).
  return {"/dev/null", "/dev/full", "/dev/random", "/dev/urandom"};
}

void enter_private_root(const std::vector<std::string>& readable) {
  checked(mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), "making mounts private");
  std::vector<Bind> binds;
  for (const std::string& path : program_folders(readable)) binds.push_back(take(path, MOUNT_ATTR_NODEV));
  for (const std::string& path : device_files()) binds.push_back(take(path, MOUNT_ATTR_NOEXEC));
  checked(mount("root", kStage, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=1m,nr_inodes=1k"), "mounting a tmpfs");
  make_links_and_files();
  for (const Bind& bind : binds) put(bind);
  checked(mount("proc", (std::string(kStage) + "/proc").c_str(), "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr),
          "mounting /proc");
  swap_root();
}

}  // namespace agon::sandbox::launcher
