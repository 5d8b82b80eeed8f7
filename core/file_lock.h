// core/file_lock.h - the exclusive lock of a file or a folder (flock), held as long as the object lives; the kernel
// lets go of it however the process ends. It keeps out other processes and other FileLocks of this one.
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
