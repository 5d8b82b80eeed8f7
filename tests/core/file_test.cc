#include "core/file.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <set>

#include "core/text.h"
#include "error_of.h"
#include "file_calls.h"
#include "small_files.h"
#include "temp_folder.h"

using namespace agon;
using agon::test::error_of;
using agon::test::FileCalls;
using agon::test::killed_at;
using agon::test::SmallFiles;
using agon::test::TempFolder;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

}  // namespace

TEST_CASE("file: what is written is synced before it takes its place, and its folder after", "[file]") {
  const TempFolder folder;
  const fs::path file = folder / "state.json";
  write_file_atomically(file.string(), "old");
  FileCalls calls;
  FileWriter writer(file);
  writer.write("new ");
  writer.write("text");
  CHECK(read_file(file.string()) == "old");
  writer.commit();
  CHECK(read_file(file.string()) == "new text");
  CHECK(calls.names() == std::vector<std::string>{"open", "write", "write", "sync", "rename", "open", "sync folder"});
  CHECK(calls.calls.back().second == folder.path().string());
  CHECK(names_in(folder.path()) == std::set<std::string>{"state.json"});
}

TEST_CASE("file: a call that fails is an error with path and reason, and the old file stays whole", "[file]") {
  const TempFolder folder;
  const fs::path file = folder / "state.json";
  const auto write = [&] { write_file_atomically(file.string(), "new"); };
  for (std::size_t call = 0; call < 6; ++call) {
    INFO("call " << call);
    write_file_atomically(file.string(), "old");
    std::string error;
    {
      const FileCalls calls(call, call == 1 ? ENOSPC : EIO);
      error = error_of(write);
    }
    CHECK_THAT(error, Contains(file.string()) && Contains("cannot be written") &&
                          Contains(call == 1 ? "No space left on device" : "Input/output error"));
    CHECK(read_file(file.string()) == (call < 4 ? "old" : "new"));  // from call 4 on it is renamed
    CHECK(names_in(folder.path()) == std::set<std::string>{"state.json"});
  }
  const FileCalls calls(5, EINVAL);  // a file system that cannot sync folders
  CHECK(error_of(write) == "");
}

TEST_CASE("file: a full disk leaves the old file whole and nothing beside it", "[file]") {
  const TempFolder folder;
  const fs::path file = folder / "weights";
  write_file_atomically(file.string(), "old");
  const SmallFiles limit(1000);
  CHECK_THAT(error_of([&] { write_file_atomically(file.string(), std::string(5000, 'x')); }),
             Contains(file.string()) && Contains("File too large"));
  CHECK(read_file(file.string()) == "old");
  CHECK(names_in(folder.path()) == std::set<std::string>{"weights"});
}

TEST_CASE("file: a writer that is killed at any call leaves the old file or the new one", "[file]") {
  const TempFolder folder;
  const fs::path file = folder / "state.json";
  const std::string text(100'000, 'n');
  std::size_t call = 0;
  for (bool killed = true; killed; ++call) {
    write_file_atomically(file.string(), "old");
    killed = killed_at(call, [&] { write_file_atomically(file.string(), text); });
    const std::string there = read_file(file.string());
    CHECK((there == "old" || there == text));
    CHECK((there == text) == (!killed || call > 3));
    remove_left_over(folder.path());
    CHECK(names_in(folder.path()) == std::set<std::string>{"state.json"});
  }
  CHECK(call == 7);
}

TEST_CASE("file: what is left over is removed when its writer is no more, and nothing else", "[file]") {
  const TempFolder folder;
  const std::string living = "a." + std::to_string(::getpid()) + "-0.tmp";
  for (const std::string& name :
       {living, std::string("b.4194303-12.tmp"), std::string("c.tmp"), std::string("d.4194303-x.tmp"),
        std::string("4194303-1.tmp"), std::string("e.4194303-1.tmp.txt")})
    write_file_atomically((folder / name).string(), "");
  remove_left_over(folder.path());
  CHECK(names_in(folder.path()) ==
        std::set<std::string>{living, "c.tmp", "d.4194303-x.tmp", "4194303-1.tmp", "e.4194303-1.tmp.txt"});
}

TEST_CASE("file: an addition to a log that fails leaves the log as it was", "[file]") {
  const TempFolder folder;
  const fs::path file = folder / "train.jsonl";
  FileCalls calls;
  AppendedFile log(file);
  log.add("one\n");
  log.sync();
  CHECK(calls.names() == std::vector<std::string>{"open", "open", "sync folder", "write", "sync"});
  {
    const SmallFiles limit(10);
    CHECK_THAT(error_of([&] { log.add("a line that is too long\n"); }), Contains("train.jsonl: cannot be written"));
  }
  AppendedFile(file).add("two\n");
  CHECK(read_file(file.string()) == "one\ntwo\n");
  CHECK_THAT(error_of([&] { AppendedFile(folder / "no/such/folder"); }), Contains("No such file or directory"));
}

TEST_CASE("file: folders are made and renamed with their names synced", "[file]") {
  const TempFolder folder;
  FileCalls calls;
  make_folders(folder / "a/b");
  const std::string top = folder.path().string();
  CHECK(calls.calls == std::vector<std::pair<std::string, std::string>>{
                           {"open", top + "/a"}, {"sync folder", top + "/a"}, {"open", top}, {"sync folder", top}});
  make_folders(folder / "a/b");  // already exists
  CHECK(calls.calls.size() == 4);
  rename_durably(folder / "a/b", folder / "c");
  CHECK(calls.names() == std::vector<std::string>{"open", "sync folder", "open", "sync folder", "rename", "open",
                                                  "sync folder", "open", "sync folder"});
  CHECK(names_in(folder.path()) == std::set<std::string>{"a", "c"});
  CHECK_THAT(error_of([&] { rename_durably(folder / "b", folder / "d"); }), Contains("/d: cannot be written"));
  write_file_atomically((folder / "file").string(), "");
  CHECK_THAT(error_of([&] { make_folders(folder / "file/below"); }), Contains("below: the folder cannot be made"));
  sync_file(folder / "absent");
}
