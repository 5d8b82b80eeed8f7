#include <catch2/catch.hpp>

#include "browser.h"
#include "cli/report/data.h"
#include "cli/report/page.h"
#include "record/run_reader.h"
#include "temp_folder.h"

using namespace agon;
using test::count;

namespace {

Json game(int number, int round, const char* outcome, const Image& picture) {
  const Json verdict{{"judgement", "correct"}, {"probability", 0.75}, {"critique", "<b>red</b> is 3"}, {"reward", -1}};
  return {{"number", number},
          {"round", round},
          {"suite", "charts"},
          {"task", "charts/2/train/" + std::to_string(number)},
          {"messages", {{{"role", "user"}, {"parts", {{{"image", picture.hash().hex()}}, {{"text", "How many?"}}}}}}},
          {"before", ""},
          {"step", "red is 3"},
          {"sneaky", {{"hex", "ff00"}}},
          {"type", "misread_value"},
          {"sneaky_step", "<img src=x onerror=\"document.title='owned'\">"},
          {"fault", ""},
          {"rates", {{"completions", 8}, {"original", 0.875}, {"sneaky", 0.0}}},
          {"verdicts", {verdict}},
          {"right_verdicts", Json::array()},
          {"outcome", outcome},
          {"wrong", number == 0 ? Json(false) : Json()},
          {"reward", 1}};
}

}  // namespace

TEST_CASE("the report of self-play shows its rounds and games, and nobody's text becomes markup") {
  const test::TempFolder folder;
  const Image picture(2, 1, {1, 2, 3, 4, 5, 6});
  const auto store = record::EpisodeStore::create(folder / "play", {{"sneaky", "model"}, {"rounds", 2}}, false);
  const std::vector<std::pair<int, const char*>> games = {
      {1, "fools"}, {1, "caught"}, {1, "harmless"}, {2, "fools"}, {2, "invalid"}};
  for (std::size_t i = 0; i < games.size(); ++i) {
    const auto number = static_cast<int>(i);
    store->record_entry({i, 0, "game", game(number, games[i].first, games[i].second, picture), {picture}});
  }
  store->record_entry({games.size(), 0, "game", {{"round", 2}}, {}});  // damaged: only this game is lost
  store->flush();
  const auto run = record::RunReader::open(folder / "play");
  const Json data = cli::report_data(*run, "play");
  const Json& rounds = data.at("self_play").at("rounds");
  REQUIRE(rounds.size() == 2);
  CHECK(data.at("self_play").at("damaged") == 1);
  CHECK(rounds[0].at("win_rate") == 0.5);
  CHECK((rounds[0].at("mislabelled") == 1 && rounds[1].at("mislabelled") == 0));
  CHECK((rounds[0].at("harmless") == 1 && rounds[1].at("fools") == 1 && rounds[1].at("win_rate") == 1.0));
  CHECK(data.at("self_play").at("games").size() == 5);
  CHECK(cli::report_data(*run, "play", {.tasks = 2}).at("self_play").at("games").size() == 2);
  const test::Loaded loaded = test::load(folder.path(), cli::report_page(data));
  CHECK(loaded.console.empty());
  CHECK(loaded.dom.find("<title>agon play</title>") != std::string::npos);
  CHECK(count(loaded.dom, "class=\"row\"") == 5);
  CHECK(count(loaded.dom, "data:image/png;base64,") >= 1);
  CHECK(loaded.dom.find("id=\"incomplete\"") != std::string::npos);
}
