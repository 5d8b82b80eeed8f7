#include "sandbox/launcher/home_folder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/text.h"

using namespace agon::sandbox::launcher;
namespace fs = std::filesystem;

namespace {

struct Scratch {
  std::string path = fs::temp_directory_path() / "agon-home-test-XXXXXX";
  Scratch() { REQUIRE(mkdtemp(path.data())); }
  ~Scratch() { fs::remove_all(path); }
};

}  // namespace

TEST_CASE("a home is removed with all that a guest has put there, however deep or locked") {
  const Scratch scratch;
  const std::string place = scratch.path + "/1";
  {
    const HomeFolder home(place, nullptr);
    int here = open((place + "/workspace").c_str(), O_RDONLY | O_DIRECTORY);
    for (int depth = 0; depth < 3000; ++depth) {
      REQUIRE(mkdirat(here, "a-long-name-for-a-folder-that-makes-the-path-longer-than-any-limit", 0700) == 0);
      const int inner = openat(here, "a-long-name-for-a-folder-that-makes-the-path-longer-than-any-limit", O_RDONLY);
      close(here);
      here = inner;
    }
    close(here);
    fs::create_directories(place + "/tmp/locked/inner");
    std::ofstream(place + "/tmp/locked/inner/file") << "x";
    fs::create_symlink("/usr", place + "/tmp/link");
    mkfifo((place + "/shm/pipe").c_str(), 0600);
    fs::permissions(place + "/tmp/locked/inner", fs::perms::none);
    fs::permissions(place + "/tmp/locked", fs::perms::none);
  }
  CHECK_FALSE(fs::exists(place));
  CHECK(fs::exists("/usr/bin"));
}

TEST_CASE("a fork's home has copies of the files, beneath that of its parent") {
  const Scratch scratch;
  const HomeFolder home(scratch.path + "/1", nullptr);
  std::ofstream(home.path() + "/workspace/file") << "one";
  const HomeFolder fork(home.path_of_fork(2), &home);
  CHECK(fork.path() == home.path() + "/forks/2");
  std::ofstream(fork.path() + "/workspace/file", std::ios::app) << " two";
  CHECK(agon::read_file(home.path() + "/workspace/file") == "one");
  CHECK(agon::read_file(fork.path() + "/workspace/file") == "one two");
  CHECK_FALSE(fs::exists(fork.path() + "/forks/2"));
  CHECK_THROWS(HomeFolder(fork.path(), nullptr));
}

TEST_CASE("files are counted by the room that they take, too deep is too many") {
  const Scratch scratch;
  const HomeFolder home(scratch.path + "/1", nullptr);
  const FilesUse none = files_use(home.descriptor(), 100);
  CHECK(none.files == 0);
  std::ofstream(home.path() + "/tmp/large") << std::string(1 << 20, 'x');
  std::ofstream(home.path() + "/tmp/sparse").close();
  fs::resize_file(home.path() + "/tmp/sparse", 1 << 30);
  const FilesUse some = files_use(home.descriptor(), 100);
  CHECK(some.files == 2);
  CHECK(some.bytes >= 1 << 20);
  CHECK(some.bytes < 2 << 20);
  fs::path deep = home.path() + "/workspace";
  for (int depth = 0; depth < 200; ++depth) deep /= "d";
  fs::create_directories(deep);
  CHECK(files_use(home.descriptor(), 1000).files > 1000);
}
