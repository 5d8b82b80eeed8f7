#include <catch2/catch.hpp>

#include "browser.h"
#include "cli/report/data.h"
#include "cli/report/page.h"
#include "fixtures/episode.h"
#include "record/run_reader.h"
#include "temp_folder.h"

using namespace agon;
using record::Episode;
using test::count;
using test::load;
using test::Loaded;
using test::make_episode;

namespace {

const Json kConfig = {{"suite", "charts"}, {"split", "test"}, {"level", 2}, {"samples", 2}, {"seed", 0}};
const std::string kHostile =
    "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"><b>bold</b>&lt;";

// Ten tasks of three samples: task 4 fails once, task 5 has hostile text, task 6 asks for a box, task 7 is of a phone.
Episode episode_of(std::uint64_t task, int sample) {
  Episode episode = task == 4 && sample == 1 ? test::make_failed_episode(task, sample) : make_episode(task, sample);
  episode.success = (task + static_cast<std::uint64_t>(sample + 1)) % 2 == 0;
  if (task == 5) {
    episode.prompt = episode.kind = kHostile;
    episode.answer = kHostile;
    episode.gold = kHostile;
    episode.turns[0].text = "<think>" + kHostile + "</think><answer>" + kHostile + "\xff\x1b[31m</answer>";
  }
  if (task == 6) {
    episode.gold = {100, 200, 300, 400};
    episode.turns.back().text = "<answer>[110,190,310,390]</answer>";
  }
  if (task == 7) episode.turns[0].text = "<answer>CLICK <point>[[250,750]]</point></answer>";
  return episode;
}

void make_run(const std::filesystem::path& folder, bool complete) {
  auto store = record::EpisodeStore::create(folder, kConfig, false);
  for (std::uint64_t task = 0; task < 10; ++task)
    for (int sample = -1; sample < 2; ++sample) store->record(episode_of(task, sample));
  if (complete) store->finish({{"seconds", 3.5}});
}

}  // namespace

TEST_CASE("the report opens in a browser: every figure and episode is there, and nobody's text becomes markup") {
  const test::TempFolder folder;
  make_run(folder / "run", true);
  const Json data = cli::report_data(*record::RunReader::open(folder / "run"), kHostile);
  const Loaded loaded = load(folder.path(), cli::report_page(data));
  REQUIRE(loaded.console.empty());
  REQUIRE(count(loaded.dom, "class=\"row\"") == 30);
  REQUIRE(loaded.dom.find(">30 of 30 episodes<") != std::string::npos);
  REQUIRE(count(loaded.dom, "<svg") >= 3);
  REQUIRE(loaded.dom.find("id=\"incomplete\"") == std::string::npos);
  REQUIRE(loaded.dom.find("1 episodes failed") != std::string::npos);
  REQUIRE(count(loaded.dom, "<script") == 2);
  REQUIRE(count(loaded.dom, "<b>bold") == 0);
  REQUIRE(loaded.dom.find("<title>agon &lt;/script&gt;") != std::string::npos);
}

TEST_CASE("the filters of the report choose episodes, and an episode shows its boxes and taps") {
  const test::TempFolder folder;
  make_run(folder / "run", false);
  const std::string page = cli::report_page(cli::report_data(*record::RunReader::open(folder / "run"), "run"));
  const std::string script = R"js(<script>
    const seen = [];
    function filter(values) {
      for (const id of ["outcome", "kind", "sample", "search"]) document.getElementById(id).value = values[id] || "";
      document.getElementById("search").dispatchEvent(new Event("input"));
      const view = document.getElementById("detail");
      seen.push([document.querySelectorAll(".row").length, view.querySelectorAll(".gold").length,
                 view.querySelectorAll(".predicted").length, view.querySelectorAll(".tap").length].join(" "));
    }
    filter({outcome: "failed"});
    filter({outcome: "wrong", sample: "greedy"});
    filter({kind: "count", search: "picture 7?"});
    filter({search: "picture 6?"});
    filter({search: "no such thing"});
    document.body.dataset.seen = seen.join("; ");
  </script>)js";
  const Loaded loaded = load(folder.path(), page + script);
  REQUIRE(loaded.console.empty());
  REQUIRE(loaded.dom.find("id=\"incomplete\"") != std::string::npos);
  const std::size_t turns = make_episode(6, -1).turns.size();  // each with one picture that shows the gold box
  REQUIRE(loaded.dom.find("data-seen=\"1 0 0 0; 5 0 0 0; 3 0 0 1; 3 " + std::to_string(turns) + " 1 0; 0 0 0 0\"") !=
          std::string::npos);
}

TEST_CASE("a report says what it leaves out, and its figures are of all episodes") {
  const test::TempFolder folder;
  make_run(folder / "run", true);
  const auto run = record::RunReader::open(folder / "run");
  const Json data = cli::report_data(*run, "run", {.tasks = 3, .samples = 1});
  REQUIRE(data["episodes"].size() == 6);
  REQUIRE((data["episodes_total"] == 30 && data["embedded_tasks"] == 3 && data["embedded_samples"] == 1));
  REQUIRE(data["summary"] == cli::report_data(*run, "run")["summary"]);
  REQUIRE((data["summary"]["tasks"] == 10 && data["summary"]["seconds"] == run->seconds()));
  REQUIRE(cli::report_data(*run, "run", {.bytes = 1})["embedded_tasks"] == 1);
  REQUIRE(data["kinds"].size() == 3);
}

TEST_CASE("the report of a two-turn run has a table of both answers, and an episode tells which was right") {
  const test::TempFolder folder;
  {
    auto store = record::EpisodeStore::create(folder / "run", kConfig, false);
    for (int sample = -1; sample < 2; ++sample) {
      Episode episode = make_episode(0, sample);
      episode.turns.resize(2, episode.turns[0]);
      episode.turns[0].facts.turn_correct = false;
      episode.turns[1].facts.turn_correct = sample < 1;
      store->record(episode);
    }
  }
  const Loaded loaded =
      load(folder.path(), cli::report_page(cli::report_data(*record::RunReader::open(folder / "run"), "run")));
  CAPTURE(loaded.console);
  REQUIRE(loaded.console.empty());
  REQUIRE(loaded.dom.find("id=\"two-turn\"") != std::string::npos);
  REQUIRE(loaded.dom.find("samples 0-&gt;0 1, 0-&gt;1 1, 1-&gt;0 0, 1-&gt;1 0; greedy 0-&gt;0 0, 0-&gt;1 1") !=
          std::string::npos);
  REQUIRE(loaded.dom.find(", wrong answer<") != std::string::npos);
  REQUIRE(loaded.dom.find(", right answer<") != std::string::npos);
}

TEST_CASE("a run without episodes still has a report") {
  const test::TempFolder folder;
  record::EpisodeStore::create(folder / "run", kConfig, false);
  const Loaded loaded =
      load(folder.path(), cli::report_page(cli::report_data(*record::RunReader::open(folder / "run"), "run")));
  REQUIRE(loaded.console.empty());
  REQUIRE(loaded.dom.find("No episode fits these filters.") != std::string::npos);
}
