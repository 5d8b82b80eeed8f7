// sandbox/launcher/session/folder.h - an open folder that a guest may own and change at any moment. Every name is one
// entry of it, no link is ever followed, and what is behind a descriptor stays the same whatever becomes of its name.
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
  // Which folder it is, by whatever name.
  struct Identity {
    dev_t device = 0;
    ino_t inode = 0;
    bool operator==(const Identity&) const = default;
  };

  Folder() = default;
  explicit Folder(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}
  // By a path that no guest can change, except for its last entry. Throws std::system_error.
  static Folder at(const std::string& path);

  explicit operator bool() const { return static_cast<bool>(descriptor_); }
  int get() const { return descriptor_.get(); }
  Identity identity() const;
  std::optional<struct stat> status(const char* name) const;
  // Of the names in it without . and ..; none where it cannot be read.
  void for_each(const std::function<void(const char* name)>& use) const;
  void for_each_until(const std::function<bool(const char* name)>& use) const;  // one of them gives true

  std::optional<Folder> inner(const char* name) const;      // nothing where there is no such folder
  Folder make(const char* name, mode_t mode = 0700) const;  // throws std::system_error, also where the name is taken
  void empty() const;                   // removes what is in it, however deep, as far as permissions go
  void remove(const char* name) const;  // an entry with all beneath

 private:
  Descriptor descriptor_;
};

}  // namespace agon::sandbox::launcher
