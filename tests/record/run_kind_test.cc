#include "record/run_kind.h"

#include <catch2/catch.hpp>

#include "core/file.h"
#include "record/episode_store.h"
#include "temp_folder.h"

using namespace agon;
using record::RunKind;

TEST_CASE("the config of a run says which kind it is of") {
  const Json played{{"suite", "charts"}, {"split", "test"}, {"samples", 8}};
  CHECK(record::run_kind_of(played) == RunKind::episodes);
  Json search = played;
  search.update({{"method", "guided"}, {"search_version", 6}});
  CHECK(record::run_kind_of(search) == RunKind::search);
  const Json sources{{{"suite", "charts"}}};
  CHECK(record::run_kind_of({{"method", "grpo"}, {"sources", sources}}) == RunKind::training);
  CHECK(record::run_kind_of({{"critic", "c"}, {"sneaky", "s"}, {"sources", sources}}) == RunKind::self_play);
  CHECK(record::run_kind_of({{"preferences", {"charts"}}, {"split", "train"}}) == RunKind::preferences);
}

TEST_CASE("a folder holds a run, the log of a training run, or neither") {
  const test::TempFolder folder;
  CHECK_FALSE(record::run_kind_in(folder.path()));
  CHECK_FALSE(record::run_kind_in(folder / "nowhere"));
  write_file_atomically((folder / "train.jsonl").string(), "");
  CHECK(record::run_kind_in(folder.path()) == RunKind::training_log);
  record::EpisodeStore::create(folder / "run", {{"sneaky", "s"}}, false);
  write_file_atomically((folder / "run/train.jsonl").string(), "");
  CHECK(record::run_kind_in(folder / "run") == RunKind::self_play);
}
