// core/file_lock.h - an exclusive lock on a file or a folder (flock), held as long as the object lives. The kernel
// releases it however the process ends. It excludes other processes and other FileLocks of this process.
#pragma once

#include "core/descriptor.h"

namespace agon {

class FileLock {
 public:
  FileLock() = default;                                           // locks nothing
  explicit FileLock(Descriptor file) : file_(std::move(file)) {}  // on that open file; not locked yet

  // Both return false, with errno, if the lock cannot be taken.
  bool lock();                    // waits while another holds it
  [[nodiscard]] bool try_lock();  // EWOULDBLOCK: another holds it
  int descriptor() const { return file_.get(); }
  explicit operator bool() const { return static_cast<bool>(file_); }  // a file is open

 private:
  Descriptor file_;
};

}  // namespace agon
