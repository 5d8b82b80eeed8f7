#include "sandbox/launcher/session/home_folder.h"

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
  const HomeFolder home(scratch.path, 1, nullptr);
  const std::string place = home.files_path();
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
  home.remove();
  CHECK_FALSE(fs::exists(home.path()));
  CHECK(fs::exists("/usr/bin"));
}

TEST_CASE("a fork's home has copies of the files, beneath that of its parent") {
  const Scratch scratch;
  const HomeFolder home(scratch.path, 1, nullptr);
  std::ofstream(home.files_path() + "/workspace/file") << "one";
  const HomeFolder fork(scratch.path, 2, &home);
  fork.copy_from(home, 1 << 20, 100);
  CHECK(fork.path() == home.path() + "/forks/2");
  std::ofstream(fork.files_path() + "/workspace/file", std::ios::app) << " two";
  CHECK(agon::read_file(home.files_path() + "/workspace/file") == "one");
  CHECK(agon::read_file(fork.files_path() + "/workspace/file") == "one two");
  CHECK_FALSE(fs::exists(fork.path() + "/forks/2"));
  CHECK_THROWS(HomeFolder(scratch.path, 1, nullptr));
}

TEST_CASE("a folder that a guest has put in the place of a home is neither read nor emptied") {
  const Scratch scratch;
  fs::create_directories(scratch.path + "/host/2/files/workspace");
  std::ofstream(scratch.path + "/host/2/files/workspace/kept") << "host";
  fs::permissions(scratch.path + "/host/2", fs::perms(0755));
  fs::create_directory(scratch.path + "/sandbox");
  const HomeFolder home(scratch.path + "/sandbox", 1, nullptr);
  const HomeFolder fork(scratch.path + "/sandbox", 2, &home);
  const auto put = [&](bool link) {
    fs::rename(home.path() + "/forks", home.path() + "/away");
    if (link) fs::create_directory_symlink(scratch.path + "/host", home.path() + "/forks");
    if (!link) fs::rename(scratch.path + "/host", home.path() + "/forks");
  };
  SECTION("a link") { put(true); }
  SECTION("another folder of that name") { put(false); }
  CHECK_THROWS_AS(fork.files(), std::system_error);
  CHECK_THROWS_AS(fork.copy_from(home, 1 << 20, 100), std::system_error);
  fork.remove();
  CHECK(agon::read_file(home.path() + "/forks/2/files/workspace/kept") == "host");
  CHECK(fs::status(home.path() + "/forks/2").permissions() == fs::perms(0755));
}

TEST_CASE("the folder of a fork that has ended goes where the session that it came from cannot write") {
  const Scratch scratch;
  const HomeFolder home(scratch.path, 1, nullptr);
  HomeFolder fork(scratch.path, 2, &home);
  const std::string before = fork.path();
  fork.move_away();
  CHECK(fork.path() == scratch.path + "/ended-2");
  CHECK_FALSE(fs::exists(before));
  CHECK(fork.all().identity() == fork.identity());
  fork.remove();
  CHECK_FALSE(fs::exists(fork.path()));
  CHECK(fs::exists(home.files_path()));
}

TEST_CASE("what is emptied changes nothing behind links, whatever their names") {
  const Scratch scratch;
  std::ofstream(scratch.path + "/host") << "host";
  fs::permissions(scratch.path + "/host", fs::perms(0644));
  const HomeFolder home(scratch.path, 1, nullptr);
  for (const char* name : {"moved-1", "a", "b"})
    fs::create_symlink(scratch.path + "/host", home.files_path() + "/tmp/" + name);
  fs::create_directories(home.files_path() + "/tmp/c/d");
  home.remove();
  CHECK_FALSE(fs::exists(home.path()));
  CHECK(fs::status(scratch.path + "/host").permissions() == fs::perms(0644));
}

TEST_CASE("a copy keeps hard links, and counts against the limits") {
  const Scratch scratch;
  const HomeFolder home(scratch.path, 1, nullptr);
  const std::string from = home.files_path();
  std::ofstream(from + "/tmp/large") << std::string(1 << 20, 'x');
  for (const char* name : {"/tmp/again", "/workspace/too", "/shm/here"})
    fs::create_hard_link(from + "/tmp/large", from + name);
  const HomeFolder fork(scratch.path, 2, &home);
  fork.copy_from(home, 1 << 20, 100);
  for (const char* name : {"/tmp/large", "/tmp/again", "/workspace/too", "/shm/here"}) {
    CHECK(fs::hard_link_count(fork.files_path() + name) == 4);
    CHECK(fs::file_size(fork.files_path() + name) == 1 << 20);
  }
  CHECK(files_use(fork.all(), 100).bytes < 2 << 20);
  const HomeFolder small(scratch.path, 3, &home), few(scratch.path, 4, &home);
  CHECK_THROWS_AS(small.copy_from(home, 1 << 19, 100), std::system_error);
  CHECK_THROWS_AS(few.copy_from(home, 1 << 20, 5), std::system_error);
}

TEST_CASE("files are counted by the room that they take, too deep is too many") {
  const Scratch scratch;
  const HomeFolder home(scratch.path, 1, nullptr);
  const std::string files = home.files_path();
  const FilesUse none = files_use(home.all(), 100);
  CHECK(none.files == 0);
  CHECK(none.bytes == 0);
  std::ofstream(files + "/tmp/large") << std::string(1 << 20, 'x');
  std::ofstream(files + "/tmp/sparse").close();
  fs::resize_file(files + "/tmp/sparse", 1 << 30);
  const FilesUse some = files_use(home.all(), 100);
  CHECK(some.files == 2);
  CHECK(some.bytes >= 1 << 20);
  CHECK(some.bytes < 2 << 20);
  std::ofstream(home.path() + "/forks/beside") << std::string(1 << 20, 'x');
  CHECK(files_use(home.all(), 100).files == 3);
  const HomeFolder fork(scratch.path, 2, &home);
  CHECK(files_use(home.all(), 100, {fork.identity()}).files == 3);
  fs::path deep = files + "/workspace";
  for (int depth = 0; depth < 200; ++depth) deep /= "d";
  fs::create_directories(deep);
  CHECK(files_use(home.all(), 1000).files > 1000);
}

TEST_CASE("a file that has no name any more is counted while it is open") {
  const Scratch scratch;
  const HomeFolder home(scratch.path, 1, nullptr);
  const std::string name = home.files_path() + "/tmp/gone";
  std::ofstream file(name);
  file << std::string(1 << 20, 'x') << std::flush;
  fs::remove(name);
  CHECK(files_use(home.all(), 100).bytes < 1 << 16);
  CHECK(files_use(home.all(), 100, {}, {getpid(), getpid()}).bytes >= 1 << 20);
  CHECK(files_use(home.all(), 100, {}, {getpid()}).bytes < 2 << 20);
}
