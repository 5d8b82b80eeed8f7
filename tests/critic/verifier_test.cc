#include "critic/reward_model/verifier.h"

#include <catch2/catch.hpp>

#include "temp_folder.h"

using namespace agon;
using namespace agon::critic;

namespace {

// Scores a response by its length; as many of them as it has room for fit.
class Longest final : public RewardModel {
 public:
  explicit Longest(std::size_t room) : room_(room) {}
  std::vector<std::vector<double>> score(std::span<const Candidates> sets) override {
    std::vector<std::vector<double>> scores;
    for (const Candidates& set : sets) {
      CHECK(fits(set));
      scores.emplace_back();
      for (const std::string& response : set.responses) scores.back().push_back(static_cast<double>(response.size()));
    }
    return scores;
  }
  bool fits(const Candidates& set) const override { return set.responses.size() <= room_; }
  void require(const Candidates&) const override {}
  double probability(double score) const override { return score; }
  bool joint() const override { return true; }
  const Json& notes() const override { return notes_; }

 private:
  const std::size_t room_;
  const Json notes_;
};

// Two tasks of four samples; the longest of the first is right, of the second the shortest.
std::unique_ptr<env::RunReader> played(const std::filesystem::path& folder, bool last_failed = false) {
  const auto store = env::EpisodeStore::create(folder, {{"suite", "charts"}}, false);
  for (std::uint64_t task = 0; task < 2; ++task)
    for (int sample = 0; sample < 4; ++sample) {
      env::Episode episode;
      episode.task_id = "t/" + std::to_string(task);
      episode.task_index = task;
      episode.sample = sample;
      episode.success = sample == (task == 0 ? 3 : 0);
      episode.turns.emplace_back().text = std::string(static_cast<std::size_t>(sample + 1), 'x');
      if (last_failed && task == 1 && sample == 3) {
        episode.status = env::EpisodeStatus::failed;
        episode.turns.clear();
      }
      store->record(std::move(episode));
    }
  store->flush();
  return env::RunReader::open(folder);
}

}  // namespace

TEST_CASE("verifier: of each block of n the one with the highest score is taken") {
  const test::TempFolder folder;
  Longest model(4);
  const Json figures = verified(model, *played(folder / "run"));
  CHECK(figures.at("verified") == Json{{"1", 0.25}, {"2", 0.25}, {"4", 0.5}});
  CHECK(figures.at("not_fitting").empty());
}

TEST_CASE("verifier: a task that lacks a sample adds no n of its own") {
  const test::TempFolder folder;
  Longest model(4);
  const Json figures = verified(model, *played(folder / "run", true));
  CHECK(figures.at("verified") == Json{{"1", (0.25 + 1.0 / 3) / 2}, {"2", (0.5 + 0) / 2}, {"4", 1.0}});
}

TEST_CASE("verifier: an n whose block passes the context is left out, and said") {
  const test::TempFolder folder;
  Longest model(2);
  const Json figures = verified(model, *played(folder / "run"));
  CHECK(figures.at("verified") == Json{{"1", 0.25}, {"2", 0.25}, {"4", nullptr}});
  CHECK(figures.at("not_fitting") == Json::array({4}));
  CHECK_FALSE(figures.at("ci").contains("verified_4"));
}
