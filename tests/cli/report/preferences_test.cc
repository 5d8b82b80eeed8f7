#include <catch2/catch.hpp>

#include "browser.h"
#include "cli/report/data.h"
#include "cli/report/page.h"
#include "record/run_reader.h"
#include "temp_folder.h"

using namespace agon;
using test::count;

namespace {

Json set(int number, bool cycle, const Image& picture) {
  Json responses = Json::array();
  for (const char* text : {"red", "<img src=x onerror=\"document.title='owned'\">", "blue"})
    responses.push_back(
        {{"text", text}, {"source", "tiny T=1"}, {"reward", 0.5}, {"right", text[0] == 'r'}, {"steps", 1.0}});
  return {{"id", "charts/" + std::to_string(number)},
          {"category", "charts"},
          {"messages", {{{"role", "user"}, {"parts", {{{"image", picture.hash().hex()}}, {{"text", "Which?"}}}}}}},
          {"responses", responses},
          {"rank", {1, 2, 3}},
          {"chosen", {0, 2}},
          {"graph",
           {{"arcs", {{0, 1, 2.0}, {1, 2, 1.0}}},
            {"removed", cycle ? Json::array({Json::array({2, 0, 1.0})}) : Json::array()}}}};
}

}  // namespace

TEST_CASE("the report of preferences draws the votes and what was removed, and nobody's text becomes markup") {
  const test::TempFolder folder;
  const Image picture(2, 1, {1, 2, 3, 4, 5, 6});
  const auto store = record::EpisodeStore::create(folder / "votes", {{"preferences", {"charts"}}}, false);
  for (const int number : {0, 1, 2})
    store->record_entry(
        {static_cast<std::uint64_t>(number), 0, "preference", set(number, number == 2, picture), {picture}});
  const auto without = [&](const char* key) {
    Json damaged = set(9, false, picture);
    damaged[key] = Json::array({nullptr});
    return damaged;
  };
  Json gone = set(9, false, picture);
  gone["messages"][0]["parts"][0]["image"] = "0123";
  std::uint64_t index = 3;
  for (const Json& damaged : {Json(7), Json{{"id", "charts/3"}}, Json{{"graph", {{"removed", 1}}}}, without("messages"),
                              without("responses"), gone})
    store->record_entry({index++, 0, "preference", damaged, {}});
  store->flush();
  const auto run = record::RunReader::open(folder / "votes");
  const Json data = cli::report_data(*run, "votes");
  const Json& sets = data.at("preferences").at("sets");
  REQUIRE(sets.size() == 3);
  CHECK(data.at("preferences").at("damaged") == 6);
  CHECK(sets[0].at("id") == "charts/2");  // sets with removed arcs come first
  CHECK(sets[1].at("id") == "charts/0");
  CHECK(cli::report_data(*run, "votes", {.tasks = 2}).at("preferences").at("sets").size() == 2);
  const test::Loaded loaded = test::load(folder.path(), cli::report_page(data));
  CHECK(loaded.console.empty());
  CHECK(loaded.dom.find("<title>agon votes</title>") != std::string::npos);
  CHECK(loaded.dom.find("6 damaged sets are left out.") != std::string::npos);
  CHECK(count(loaded.dom, "class=\"row\"") == 3);
  CHECK(count(loaded.dom, "data:image/png;base64,") >= 1);
  CHECK(loaded.dom.find("marker-end=\"url(#head-removed)\"") != std::string::npos);
  CHECK(count(loaded.dom, "marker-end=\"url(#head-kept)\"") == 2);
}
