#include "agents/learn/loop/event_file.h"

#include <cmath>

#include "core/error.h"
#include "core/file.h"
#include "core/json.h"
#include "core/text.h"
#include "paths.h"
#include "small_files.h"
#include "temp_folder.h"
#include "torch_catch.h"

using namespace agon;
using agents::EventFile;

namespace {

record::Metrics metrics_of(const Json& values) {
  record::Metrics metrics;
  for (const Json& value : values)
    metrics.emplace_back(value[0], value[1].is_null() ? std::nan("") : value[1].get<double>());
  return metrics;
}

}  // namespace

TEST_CASE("event files are those of TensorBoard's own writer, byte for byte", "[event_file]") {
  const test::TempFolder folder;
  const std::filesystem::path golden = agon::test::golden_path("event_file");
  const Json parts = Json::parse(read_file((golden / "parts.json").string()));
  for (const Json& part : parts["parts"]) {
    EventFile file(folder / "events", part["wall_time"], part["first_step"]);
    for (const Json& step : part["steps"]) file.add(step[0], step[1], metrics_of(step[2]));
    file.flush();
    REQUIRE(read_file(file.path().string()) == read_file((golden / file.path().filename()).string()));
  }
}

TEST_CASE("a new event file comes after those that are there, whatever the clock says", "[event_file]") {
  const test::TempFolder folder;
  write_file_atomically((folder / "events.out.tfevents.1700000009.host.7").string(), "of another program");
  write_file_atomically((folder / "run.sqlite").string(), "");
  std::string last = "events.out.tfevents.1700000009.host.7";
  for (const double wall_time : {1700000000.0, 1700000000.9, 1700000010.0, 1700000020.0, 1600000000.0}) {
    const EventFile file(folder.path(), wall_time, 0);
    REQUIRE(file.path().filename().string() > last);
    last = file.path().filename().string();
  }
  REQUIRE(last == "events.out.tfevents.1700000021.agon");
}

TEST_CASE("an event file that cannot be written is one clear error", "[event_file]") {
  const test::TempFolder folder;
  write_file_atomically((folder / "file").string(), "text");
  REQUIRE_THROWS_WITH(EventFile(folder / "file", 1700000000, 0), Catch::Contains("file: the folder cannot be made"));
  EventFile file(folder / "events", 1700000000, 0);
  const test::SmallFiles limit(4096);
  const auto fill = [&] {
    for (std::int64_t step = 0; step < 10'000; ++step) file.add(step, 1700000000, {{"reward/total", 1}});
    file.flush();
  };
  REQUIRE_THROWS_WITH(fill(),
                      Catch::Contains("events.out.tfevents.1700000000.agon: cannot be written: File too large"));
}
