// Searches of several tasks that a run records: envs that cannot fork, envs that change, damaged journals.
#include <sqlite3.h>

#include <catch2/catch.hpp>

#include "critic/search/search_run.h"
#include "critic/search/summary.h"
#include "fixtures/search.h"
#include "record/run_reader.h"
#include "temp_folder.h"

using namespace agon;
using namespace agon::critic;
using Catch::Contains;
using test::Branch;

namespace {

Branch two_step_branch() {
  Branch root;
  root.next = {{"one", 0.9, {{"<answer>a</answer>", 0.9, {}}}}, {"two", 0.2, {{"<answer>b</answer>", 0.3, {}}}}};
  return root;
}

// A new or resumed search of two tasks of `new_env` in a folder.
struct Run {
  explicit Run(const std::filesystem::path& run_folder) : folder(run_folder) {
    options.tasks = 2;
    options.threads = 1;
    options.speculate = false;
  }
  void search(const env::EnvFactory& new_env, const std::atomic<bool>* stop = nullptr) {
    test::TreePolicy policy(root);
    test::TreeCritic critic(root);
    const auto store = record::EpisodeStore::create(folder, {{"seed", 0}}, true);
    const auto run = record::RunReader::open(folder);
    search_tasks(policy, &critic, options, {store.get(), run.get(), {}, stop}, new_env, "");
    store->flush();
  }
  std::vector<record::Episode> episodes() const {
    std::vector<record::Episode> all;
    record::RunReader::open(folder)->for_each([&](const record::Episode& episode) { all.push_back(episode); },
                                              record::RunReader::Detail::whole);
    return all;
  }
  void change(const std::string& sql) const {
    sqlite3* database = nullptr;
    REQUIRE(sqlite3_open((folder / "run.sqlite").c_str(), &database) == SQLITE_OK);
    CHECK(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
    CHECK(sqlite3_changes(database) > 0);
    sqlite3_close(database);
  }

  const std::filesystem::path folder;
  const Branch root = two_step_branch();
  SearchOptions options;
};

env::EnvFactory counted(const std::string& gold, int turns = 1, bool forks = true) {
  return [=] { return std::make_unique<test::CountedEnv>(gold, turns, forks); };
}

}  // namespace

TEST_CASE("An env that cannot be forked is refused where several futures are played, and works elsewhere") {
  const auto method = static_cast<Method>(GENERATE(range(0, 9)));
  INFO(to_string(method));
  const test::TempFolder folder;
  Run run(folder / "run");
  run.options.method.method = method;
  if (needs_forks(method)) {
    CHECK_THROWS_WITH(run.search(counted("a", 1, false)),
                      Contains("cannot be forked: its state is not ours.") && Contains(to_string(method)));
    return;
  }
  run.search(counted("a", 1, false));
  REQUIRE(run.episodes().size() == 2);
  for (const record::Episode& episode : run.episodes()) CHECK(episode.status == record::EpisodeStatus::done);
}

TEST_CASE("A search goes on only where its env answers as it did") {
  const test::TempFolder folder;
  Run run(folder / "run");
  run.options.method.method = Method::guided;
  run.search(counted("a", 2));
  CHECK(run.episodes().at(1).status == record::EpisodeStatus::done);
  run.change("DELETE FROM turns WHERE episode_id = (SELECT id FROM episodes WHERE task_index = 1)");
  run.change("DELETE FROM episodes WHERE task_index = 1");
  run.change(
      "DELETE FROM journal WHERE task_index = 1 AND number >= (SELECT max(number) FROM journal WHERE task_index "
      "= 1 AND kind = 'play')");

  const auto before = record::RunReader::open(run.folder)->journal(1);
  run.search(counted("a", 1));  // its episode ends after one turn
  const std::vector<record::Episode> changed = run.episodes();
  CHECK(changed.at(0).status == record::EpisodeStatus::done);
  REQUIRE(changed.at(1).status == record::EpisodeStatus::failed);
  CHECK_THAT(changed[1].failure, Contains("task 1 cannot be resumed") && Contains("(play)") &&
                                     Contains("\"terminated\":false") && Contains("\"terminated\":true"));
  CHECK(record::RunReader::open(run.folder)->journal(1).size() == before.size());  // nothing builds on the changed env

  run.search(counted("a", 2));
  CHECK(run.episodes().at(1).status == record::EpisodeStatus::done);
}
