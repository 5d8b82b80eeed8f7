#include <catch2/catch.hpp>

#include "browser.h"
#include "cli/report_data.h"
#include "cli/report_page.h"
#include "cli/search_config.h"
#include "critic/plain_critics.h"
#include "critic/search/summary.h"
#include "temp_folder.h"

using namespace agon;
using test::count;

namespace {

// A step that is markup, then an answer.
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

void make_search(const std::filesystem::path& folder, critic::Method method, std::uint64_t tasks) {
  critic::SearchOptions options;
  options.suite = "charts";
  options.suite_options.level = 2;
  options.tasks = tasks;
  options.method.method = method;
  Json config{{"suite", "charts"},   {"split", "test"},    {"level", 2},   {"tasks", tasks},   {"seed", 0},
              {"policy", "hostile"}, {"temperature", 1.0}, {"top_p", 1.0}, {"max_tokens", 256}};
  cli::add_search_config(options, config);
  Hostile policy;
  const auto critic = critic::make_constant_critic(0.2);
  const auto store = env::EpisodeStore::create(folder, config, false);
  const auto run = env::RunReader::open(folder);
  critic::search_tasks(policy, critic.get(), options, {store.get(), run.get(), {}, nullptr});
  store->flush();
  store->finish(critic::summarize_searches(*run));
}

}  // namespace

TEST_CASE("a search's report shows its figures beside others, and the tree of each task") {
  const test::TempFolder folder;
  make_search(folder / "guided", critic::Method::guided, 4);
  make_search(folder / "greedy", critic::Method::greedy, 4);
  make_search(folder / "more", critic::Method::greedy, 5);
  const auto run = env::RunReader::open(folder / "guided"), other = env::RunReader::open(folder / "greedy");
  const Json data = cli::report_data(*run, "guided", {}, {{"greedy", other.get()}});
  REQUIRE(data.at("search").at("methods").size() == 2);
  REQUIRE(data.at("search").at("trees").size() == 4);
  REQUIRE(data.at("search").at("steps").at("unknown") == 4 * 5);
  const test::Loaded loaded = test::load(folder.path(), cli::report_page(data));
  REQUIRE(loaded.console.empty());
  REQUIRE(loaded.dom.find("<title>agon guided</title>") != std::string::npos);
  REQUIRE(count(loaded.dom, "class=\"row\"") == 4);
  REQUIRE(count(loaded.dom, "<svg class=\"tree\"") == 1);      // of the task that is selected
  REQUIRE(count(loaded.dom, "<g class=\"step bad") == 5 + 5);  // two steps, five attempts each
  REQUIRE(count(loaded.dom, "step bad left\"") == 4 + 4);
  REQUIRE(count(loaded.dom, "greedy 0.") >= 2);
  const auto more = env::RunReader::open(folder / "more");
  REQUIRE_THROWS_WITH(cli::report_data(*run, "guided", {}, {{"more", more.get()}}),
                      Catch::Contains("more has other tasks: its tasks is 5, this run's 4"));
}
