#include "core/file_lock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <future>
#include <optional>

#include "temp_folder.h"

using namespace agon;
using agon::test::TempFolder;

namespace {

FileLock lock_at(const std::filesystem::path& path, int flags = O_RDWR | O_CREAT) {
  return FileLock(Descriptor(::open(path.c_str(), flags | O_CLOEXEC, 0644)));
}

}  // namespace

TEST_CASE("file lock: one at a time, as long as the object lives", "[file]") {
  const TempFolder folder;
  std::optional<FileLock> first = lock_at(folder / "lock");
  FileLock second = lock_at(folder / "lock");
  REQUIRE(first->try_lock());
  CHECK_FALSE(second.try_lock());
  CHECK(errno == EWOULDBLOCK);
  FileLock moved = std::move(*first);
  first.reset();
  CHECK_FALSE(second.try_lock());
  moved = FileLock();
  CHECK(second.try_lock());
}

TEST_CASE("file lock: lock() waits for its holder", "[file]") {
  const TempFolder folder;
  std::optional<FileLock> held = lock_at(folder / "lock");
  REQUIRE(held->lock());
  auto waiting = std::async(std::launch::async, [&] {
    FileLock own = lock_at(folder / "lock");
    return own.lock();
  });
  CHECK(waiting.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout);
  held.reset();
  CHECK(waiting.get());
}

TEST_CASE("file lock: that of a killed process is gone", "[file]") {
  const TempFolder folder;
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    FileLock held = lock_at(folder / "lock");
    const char done = held.lock() ? 'y' : 'n';
    if (::write(ends[1], &done, 1) == 1) ::pause();
    ::_exit(1);
  }
  const Descriptor told(ends[0]), theirs(ends[1]);
  char locked = 0;
  REQUIRE(::read(told.get(), &locked, 1) == 1);
  CHECK(locked == 'y');
  FileLock own = lock_at(folder / "lock");
  CHECK_FALSE(own.try_lock());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  CHECK(own.try_lock());
}

TEST_CASE("file lock: of a folder too, and of nothing it fails with the reason", "[file]") {
  const TempFolder folder;
  FileLock first = lock_at(folder.path(), O_RDONLY | O_DIRECTORY);
  FileLock second = lock_at(folder.path(), O_RDONLY | O_DIRECTORY);
  REQUIRE(first);
  REQUIRE(first.try_lock());
  CHECK_FALSE(second.try_lock());

  FileLock nothing = lock_at(folder / "no folder" / "lock");
  CHECK_FALSE(nothing);
  CHECK_FALSE(nothing.lock());
  CHECK(errno == EBADF);
  CHECK_FALSE(nothing.try_lock());
}
