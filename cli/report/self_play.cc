#include "cli/report/self_play.h"

#include <algorithm>
#include <map>
#include <vector>

#include "cli/report/episodes.h"
#include "record/journal_entry.h"

namespace agon::cli {
namespace {

constexpr const char* kGame = "game";

using Rounds = std::map<int, std::vector<Json>>;  // their games

bool is_whole_game(const Json& game) {
  if (!game.is_object() || !game.value("round", Json()).is_number_integer()) return false;
  const bool told = game.value("outcome", Json()).is_string() && game.value("messages", Json()).is_array();
  return told && game.contains("verdicts") && game.contains("right_verdicts") && game.contains("rates");
}

// damaged: counts skipped games.
Rounds rounds_of(const record::RunReader& run, std::size_t& damaged) {
  Rounds rounds;
  for (record::JournalEntry& entry : run.journal_ends(kGame, [&](const Error&) { ++damaged; }))
    if (is_whole_game(entry.body))
      rounds[entry.body.at("round").get<int>()].push_back(std::move(entry.body));
    else
      ++damaged;
  return rounds;
}

Json figures_of(int round, const std::vector<Json>& games) {
  std::map<std::string, int> outcomes;
  for (const Json& game : games) ++outcomes[game.at("outcome").get<std::string>()];
  Json figures{{"round", round}, {"games", games.size()}};
  figures["mislabelled"] = std::ranges::count_if(
      games, [](const Json& game) { return game.at("outcome") != "harmless" && game.value("wrong", Json()) == false; });
  for (const char* name : {"invalid", "harmless", "caught", "fools", "unjudged"}) figures[name] = outcomes[name];
  const int fools = outcomes["fools"], harmful = fools + outcomes["caught"];
  figures["win_rate"] = harmful > 0 ? Json(static_cast<double>(fools) / harmful) : Json();
  return figures;
}

}  // namespace

void add_self_play(const record::RunReader& run, const ReportLimits& limits, Json& data) {
  std::size_t damaged = 0;
  const Rounds rounds = rounds_of(run, damaged);
  Json list = Json::array(), figures = Json::array();
  ReportEpisodes shown;
  std::size_t total = 0, text = 0;
  for (const auto& [round, games] : rounds) {
    figures.push_back(figures_of(round, games));
    total += games.size();
    for (std::size_t i = 0; i < games.size() && i < limits.tasks / rounds.size(); ++i) {
      if (shown.bytes() + text > limits.bytes) break;
      text += games[i].dump().size();
      shown.add_images(run, games[i].at("messages"));
      list.push_back(games[i]);
    }
  }
  data["self_play"] = {
      {"rounds", std::move(figures)}, {"games", std::move(list)}, {"total", total}, {"damaged", damaged}};
  shown.move_into(data);
}

}  // namespace agon::cli
