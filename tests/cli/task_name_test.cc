#include "cli/task_name.h"

#include <catch2/catch.hpp>

#include "cli/tables/transcript.h"
#include "core/error.h"
#include "fixtures/episode.h"
#include "record/episode_store.h"
#include "temp_folder.h"

namespace agon::cli {
namespace {

// A run whose tasks 0, 1, ... have these ids. own: the ids come from a task file.
std::unique_ptr<record::RunReader> run_of(const std::filesystem::path& folder, const std::vector<std::string>& ids,
                                          bool own = true) {
  Json config{{"suite", own ? "jsonl" : "charts"}, {"seed", 1}};
  if (own) config["file"] = "00";
  auto store = record::EpisodeStore::create(folder, config, false);
  for (std::size_t task = 0; task < ids.size(); ++task) {
    record::Episode episode = test::make_episode(task, 0);
    episode.task_id = ids[task];
    store->record(episode);
  }
  store->flush();
  return record::RunReader::open(folder);
}

}  // namespace

TEST_CASE("episodes are named by the number of a task and a sample") {
  const test::TempFolder folder;
  const auto run = run_of(folder / "run", {"charts/2/test/0", "charts/2/test/1"}, false);
  CHECK(find_episode(*run, "17").task == 17);  // the reader of the episode reports that it is missing
  CHECK_FALSE(find_episode(*run, "17").sample);
  CHECK(find_episode(*run, "17:3").sample == 3);
  CHECK(find_episode(*run, "0:greedy").sample == record::kGreedySample);
  CHECK(find_episode(*run, "charts/2/test/1:0").task == 1);
  for (const char* text : {"", "x", "17:", "17:x", "17:3:4", "-1", "17 ", "99999999999999999999"})
    CHECK_THROWS_WITH(find_episode(*run, text), Catch::Contains("that `agon show RUN` lists"));
}

TEST_CASE("a task of a file is named by its id, with or without the suite") {
  const test::TempFolder folder;
  const auto run = run_of(folder / "run", {"jsonl/mytask", "jsonl/a:3", "jsonl/1", "jsonl/7", "jsonl/x/y"});
  CHECK(find_task(*run, "mytask", "show") == 0);
  CHECK(find_task(*run, "jsonl/mytask", "show") == 0);
  CHECK(find_task(*run, "x/y", "show") == 4);
  CHECK(find_task(*run, "1", "show") == 1);        // the number
  CHECK(find_task(*run, "jsonl/1", "show") == 2);  // the id
  CHECK(find_task(*run, "7", "show") == 3);        // there is no number 7
  CHECK(find_episode(*run, "mytask:greedy").sample == record::kGreedySample);
  CHECK(find_episode(*run, "a:3").task == 1);
  CHECK_FALSE(find_episode(*run, "a:3").sample);
  CHECK(find_episode(*run, "a:3:2").sample == 2);
  CHECK_THROWS_WITH(find_task(*run, "mytsk", "show"),
                    Catch::Contains("show: the run has no task 'mytsk'. Did you mean 'mytask'?"));
}

TEST_CASE("the list of a run shows the ids of a task file") {
  const test::TempFolder folder;
  const std::string text = run_text(*run_of(folder / "run", {"jsonl/mytask", "jsonl/" + std::string(40, 'x')}));
  CAPTURE(text);
  CHECK_THAT(text, Catch::Contains("\n  task  id" + std::string(25 + 2, ' ') + "kind "));
  CHECK_THAT(text, Catch::Contains("\n     0  mytask" + std::string(21 + 2, ' ') + "sum "));
  CHECK_THAT(text, Catch::Contains("\n     1  xxxxxxxxxxxxxxxxxxxxxxxx...  count "));
}

}  // namespace agon::cli
