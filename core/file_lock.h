// core/file_lock.h - an exclusive lock on a file or a folder (flock), held as long as the object lives. The kernel
// releases it however the process ends. It excludes other processes and other FileLocks of this process.
#pragma once

#include "core/descriptor.h"

namespace agon {

class FileLock {
 public:
  FileLock() = default;                                           // of nothing
  explicit FileLock(Descriptor file) : file_(std::move(file)) {}  // of what that has open; not locked yet

  // False with errno where it cannot be locked.
  bool lock();                    // waits for whoever holds it
  [[nodiscard]] bool try_lock();  // EWOULDBLOCK: another holds it
  int descriptor() const { return file_.get(); }
  explicit operator bool() const { return static_cast<bool>(file_); }  // something is open

 private:
  Descriptor file_;
};

}  // namespace agon
