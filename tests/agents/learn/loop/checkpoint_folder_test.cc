#include "agents/learn/loop/checkpoint_folder.h"

#include "core/error.h"
#include "core/file.h"
#include "core/text.h"
#include "file_calls.h"
#include "temp_folder.h"
#include "torch_catch.h"

using namespace agon;
using namespace agon::agents;
using agon::test::killed_at;
using agon::test::TempFolder;
namespace fs = std::filesystem;

namespace {

void write_numbered(const fs::path& output, int number) {
  write_checkpoint(output, [&](const fs::path& folder) {
    for (const char* name : {"model.safetensors", "optimizer.pt", "state.json"})
      write_file_atomically((folder / name).string(), std::to_string(number));
  });
}

// The number of the checkpoint that a resume finds; -1 if it is incomplete.
int number_found(const fs::path& output) {
  const fs::path folder = find_checkpoint(output);
  if (folder.empty()) return -1;
  std::string number;
  for (const char* name : {"model.safetensors", "optimizer.pt", "state.json"}) {
    if (!fs::exists(folder / name)) return -1;
    const std::string found = read_file((folder / name).string());
    if (!number.empty() && found != number) return -1;
    number = found;
  }
  return std::stoi(number);
}

}  // namespace

TEST_CASE("checkpoint: killed at any call, a whole one is found, and a later one takes its place") {
  const TempFolder folder;
  std::size_t call = 0;
  for (bool killed = true; killed; ++call) {
    INFO("call " << call);
    write_numbered(folder.path(), 1);
    REQUIRE(number_found(folder.path()) == 1);
    killed = killed_at(call, [&] { write_numbered(folder.path(), 2); });
    const int found = number_found(folder.path());
    CHECK((found == 1 || (found == 2 && call > 25)));
    CHECK((killed || found == 2));
    write_numbered(folder.path(), 3);
    CHECK(number_found(folder.path()) == 3);
  }
  CHECK(call == 29);
}

TEST_CASE("checkpoint: the old one stays until the new one is synced in its place") {
  const TempFolder folder;
  write_numbered(folder.path(), 1);
  test::FileCalls calls;
  bool old_there = false;
  set_file_probe([&](std::string_view call, const std::string& path) {
    calls.calls.emplace_back(call, path);
    if (call == "sync folder" && path == folder.path().string()) old_there = fs::exists(folder / "checkpoint.old");
    return 0;
  });
  write_numbered(folder.path(), 2);
  REQUIRE(calls.names().back() == "sync folder");
  CHECK(calls.calls.back().second == folder.path().string());
  CHECK(old_there);  // true up to the last sync
  CHECK_FALSE(fs::exists(folder / "checkpoint.old"));
}

TEST_CASE("checkpoint: removed after the training, killed at any call there is the whole one or none") {
  const TempFolder folder;
  std::size_t call = 0;
  for (bool killed = true; killed; ++call) {
    write_numbered(folder.path(), 1);
    killed = killed_at(call, [&] { remove_checkpoint(folder.path()); });
    CHECK((find_checkpoint(folder.path()).empty() || number_found(folder.path()) == 1));
  }
  CHECK(call == 4);
}

TEST_CASE("checkpoint: a disk that is full leaves the last one, with an error that names the file") {
  const TempFolder folder;
  write_numbered(folder.path(), 1);
  {
    const test::FileCalls calls(3, ENOSPC);
    CHECK_THROWS_WITH(write_numbered(folder.path(), 2),
                      Catch::Contains("checkpoint.new") && Catch::Contains("No space left on device"));
  }
  CHECK(number_found(folder.path()) == 1);
}
