#include "core/file_lock.h"

#include <sys/file.h>

#include <cerrno>

namespace agon {

bool FileLock::lock() {
  int done = -1;
  do done = ::flock(file_.get(), LOCK_EX);
  while (done != 0 && errno == EINTR);
  return done == 0;
}

bool FileLock::try_lock() { return ::flock(file_.get(), LOCK_EX | LOCK_NB) == 0; }

}  // namespace agon
