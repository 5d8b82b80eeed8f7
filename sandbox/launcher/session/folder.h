// sandbox/launcher/session/folder.h - an open folder that a guest may own and change at any moment. Every name is one
// entry of it, and links are never followed. A descriptor stays on the same folder, whatever happens to its name.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

#include "core/descriptor.h"

namespace agon::sandbox::launcher {

class Folder {
 public:
  // Identifies the folder, whatever its name is.
  struct Identity {
    dev_t device = 0;
    ino_t inode = 0;
    bool operator==(const Identity&) const = default;
  };

  Folder() = default;
  explicit Folder(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}
  // Opens a folder by a path that no guest can change, except for its last entry. Throws std::system_error.
  static Folder at(const std::string& path);

  explicit operator bool() const { return static_cast<bool>(descriptor_); }
  int get() const { return descriptor_.get(); }
  Identity identity() const;
  std::optional<struct stat> status(const char* name) const;
  // Calls `use` for every name in it except . and ..; for none if it cannot be read.
  void for_each(const std::function<void(const char* name)>& use) const;
  void for_each_until(const std::function<bool(const char* name)>& use) const;  // until `use` returns true

  std::optional<Folder> inner(const char* name) const;      // empty if there is no such folder
  Folder make(const char* name, mode_t mode = 0700) const;  // throws std::system_error, also if the name is taken
  void empty() const;                   // removes its contents, however deep, as far as permissions allow
  void remove(const char* name) const;  // an entry with everything beneath it

 private:
  Descriptor descriptor_;
};

}  // namespace agon::sandbox::launcher
