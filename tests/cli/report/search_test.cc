#include <fmt/format.h>
#include <sqlite3.h>

#include <catch2/catch.hpp>

#include "browser.h"
#include "cli/report/data.h"
#include "cli/report/page.h"
#include "cli/search_config.h"
#include "core/file.h"
#include "critic/plain_critics.h"
#include "critic/search/summary.h"
#include "record/run_reader.h"
#include "temp_folder.h"

using namespace agon;
using test::count;

namespace {

// Writes a step of HTML markup, then an answer.
class Hostile : public agents::Policy {
 public:
  std::vector<agents::Completion> complete(std::span<const agents::CompletionRequest> requests) override {
    std::vector<agents::Completion> all;
    for (const agents::CompletionRequest& request : requests) {
      agents::Completion& one = all.emplace_back();
      one.text = request.prefix.empty() ? "<img src=x onerror=\"document.title='owned'\">\n\n" : "<answer>3</answer>";
      one.matched_stop = request.prefix.empty() ? "\n\n" : "";
      one.token_ids = {1, 2, 3};
      one.logprobs = {-1, -1, -1};
    }
    return all;
  }
  std::vector<agents::TokenScores> score(std::span<const agents::ScoreRequest>) override { return {}; }
  agents::Capabilities capabilities() const override { return {"hostile", false, false, false, 1 << 20}; }
};

void make_search(const std::filesystem::path& folder, critic::Method method, std::uint64_t tasks,
                 const std::string& file = "", int version = critic::kSearchVersion) {
  critic::SearchOptions options;
  const env::Suite suite(file.empty() ? "charts" : "jsonl", {.level = file.empty() ? 2 : 1, .file = file});
  options.suite = suite;
  options.tasks = tasks;
  options.method.method = method;
  Json config{{"suite", suite.name()}, {"split", "test"}, {"level", suite.options().level},
              {"tasks", tasks},        {"seed", 0},       {"policy", "hostile"},
              {"temperature", 1.0},    {"top_p", 1.0},    {"max_tokens", 256}};
  cli::add_search_config(options, config);
  config["search_version"] = version;
  if (!file.empty()) config["file"] = fmt::format("{:016x}", suite.info().file_hash);
  Hostile policy;
  const auto critic = critic::make_constant_critic(0.2);
  const auto store = record::EpisodeStore::create(folder, config, false);
  const auto run = record::RunReader::open(folder);
  critic::search_tasks(policy, critic.get(), options, {store.get(), run.get(), {}, nullptr});
  store->flush();
  store->finish(to_json(critic::summarize_searches(*run)));
}

void change(const std::filesystem::path& run, const std::string& sql) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open((run / "run.sqlite").c_str(), &database) == SQLITE_OK);
  CHECK(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  CHECK(sqlite3_changes(database) > 0);
  sqlite3_close(database);
}

}  // namespace

TEST_CASE("a search's report shows its figures beside others, and the tree of each task") {
  const test::TempFolder folder;
  make_search(folder / "guided", critic::Method::guided, 4);
  make_search(folder / "greedy", critic::Method::greedy, 4);
  make_search(folder / "more", critic::Method::greedy, 5);
  const auto run = record::RunReader::open(folder / "guided"), other = record::RunReader::open(folder / "greedy");
  const Json data = cli::report_data(*run, "guided", {}, {{"greedy", other.get()}});
  REQUIRE(data.at("search").at("methods").size() == 2);
  REQUIRE(data.at("search").at("trees").size() == 4);
  REQUIRE(data.at("search").at("steps").at("unknown") == 4);  // five equal attempts at a step are judged once
  const test::Loaded loaded = test::load(folder.path(), cli::report_page(data));
  REQUIRE(loaded.console.empty());
  REQUIRE(loaded.dom.find("<title>agon guided</title>") != std::string::npos);
  REQUIRE(count(loaded.dom, "class=\"row\"") == 4);
  REQUIRE(count(loaded.dom, "<svg class=\"tree\"") == 1);      // of the selected task
  REQUIRE(count(loaded.dom, "<g class=\"step bad") == 5 + 5);  // two steps, five attempts each
  REQUIRE(count(loaded.dom, "step bad left\"") == 4 + 4);
  REQUIRE(count(loaded.dom, "greedy 0.") >= 2);
  const auto more = record::RunReader::open(folder / "more");
  REQUIRE_THROWS_WITH(cli::report_data(*run, "guided", {}, {{"more", more.get()}}),
                      Catch::Contains("more has other tasks: its tasks is 5, this run's 4"));
}

TEST_CASE("a search whose trees cannot be played again is reported without them, and says why") {
  const test::TempFolder folder;
  const std::string file = folder / "tasks.jsonl";
  write_file_atomically(file, R"({"id": "a", "prompt": "1 + 2?", "answer": 3, "grader": "number"})"
                              "\n");
  make_search(folder / "file", critic::Method::guided, 1, file);
  make_search(folder / "old", critic::Method::guided, 1, "", critic::kSearchVersion - 1);
  const auto run = record::RunReader::open(folder / "file"), old = record::RunReader::open(folder / "old");
  const auto search_of = [](const record::RunReader& reader, const std::string& task_file) {
    return cli::report_data(reader, "run", {}, {}, {task_file, ""}).at("search");
  };
  CHECK_THAT(search_of(*run, "").at("trees_missing").get<std::string>(), Catch::Contains("--file"));
  CHECK(search_of(*run, "").at("summary").at("accuracy") == 1);
  CHECK(search_of(*run, "").at("trees").empty());
  CHECK(search_of(*run, file).at("trees_missing") == "");
  CHECK(search_of(*run, file).at("trees").size() == 1);
  CHECK_THAT(search_of(*old, "").at("trees_missing").get<std::string>(),
             Catch::Contains(fmt::format("version {}", critic::kSearchVersion - 1)));
}

TEST_CASE("damaged entries of journals cost their own tasks alone, and are named") {
  const test::TempFolder folder;
  make_search(folder / "run", critic::Method::guided, 5);
  const std::string last = "(SELECT max(number) FROM journal AS own WHERE own.task_index = journal.task_index)";
  const auto set = [&](int task, const std::string& number, const std::string& body) {
    change(folder / "run",
           fmt::format("UPDATE journal SET body = '{}' WHERE task_index = {} AND number = {}", body, task, number));
  };
  set(0, "1", "{}");  // a verdict
  set(1, last, "not json");
  set(2, last, "{\"nodes\": \"many\"}");
  set(3, "0", "{\"steps\": [{\"parent\": 7}]}");
  const auto run = record::RunReader::open(folder / "run");
  const Json search = cli::report_data(*run, "run").at("search");
  CHECK(search.at("trees").size() == 1);
  CHECK(search.at("trees").contains("4"));
  CHECK(search.at("summary").at("damaged") == 2);
  CHECK(search.at("summary").at("tasks") == 3);
  const auto why = search.at("trees_missing").get<std::string>();
  CHECK_THAT(why, Catch::Contains((folder / "run").string()) &&
                      Catch::Contains("entry 1 (judge) of the journal of task 0 is damaged"));
  const critic::SearchOptions options = cli::search_options_in(run->config(), {});
  CHECK_THROWS_WITH(critic::replay(options, *run, 1), Catch::Contains("(result) of the journal of task 1 is damaged"));
  CHECK_THROWS_WITH(critic::replay(options, *run, 3),
                    Catch::Contains("entry 0 (write) of the journal of task 3 is damaged"));
}
