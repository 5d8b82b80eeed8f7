#include "critic/reward_model/verifier.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "record/episode_store.h"
#include "record/run_reader.h"
#include "temp_folder.h"

using namespace agon;
using namespace agon::critic;

namespace {

// Scores a response by its length times `scale`; accepts as many responses as it has room for.
class Longest final : public RewardModel {
 public:
  explicit Longest(std::size_t room, double scale = 1) : room_(room), scale_(scale) {}
  std::vector<std::vector<double>> score(std::span<const Candidates> sets) override {
    std::vector<std::vector<double>> scores;
    for (const Candidates& set : sets) {
      CHECK(fits(set));
      scores.emplace_back();
      for (const std::string& response : set.responses)
        scores.back().push_back(scale_ * static_cast<double>(response.size()));
    }
    return scores;
  }
  bool fits(const Candidates& set) const override { return set.responses.size() <= room_; }
  void require(const Candidates&) const override {}
  std::int64_t tokens(const Candidates&) const override { return 0; }
  double probability(double score) const override { return score; }
  bool joint() const override { return true; }
  const Json& notes() const override { return notes_; }

 private:
  const std::size_t room_;
  const double scale_;
  const Json notes_;
};

// The values by n; -1: undefined.
std::map<int, double> values_of(const agents::BySize& figures) {
  std::map<int, double> values;
  for (const auto& [n, figure] : figures) values[n] = figure.defined() ? figure.value : -1;
  return values;
}

// Two tasks of four samples: the longest sample of the first is right, and the shortest of the second. answers: those
// of both tasks' samples; the ones equal to `gold` are right.
std::unique_ptr<record::RunReader> played(const std::filesystem::path& folder, bool last_failed = false,
                                          const std::vector<std::string>& answers = {}, const std::string& gold = "7") {
  const auto store = record::EpisodeStore::create(folder, {{"suite", "charts"}}, false);
  for (std::uint64_t task = 0; task < 2; ++task)
    for (int sample = 0; sample < 4; ++sample) {
      record::Episode episode;
      episode.task_id = "t/" + std::to_string(task);
      episode.task_index = task;
      episode.sample = sample;
      episode.success = sample == (task == 0 ? 3 : 0);
      if (!answers.empty()) {
        const std::string& answer = answers[static_cast<std::size_t>(sample)];
        if (!answer.empty()) episode.answer = answer;
        episode.gold = gold;
        episode.success = answer == gold;
      }
      episode.turns.emplace_back().text = std::string(static_cast<std::size_t>(sample + 1), 'x');
      if (last_failed && task == 1 && sample == 3) {
        episode.status = record::EpisodeStatus::failed;
        episode.turns.clear();
      }
      store->record(std::move(episode));
    }
  store->flush();
  return record::RunReader::open(folder);
}

}  // namespace

TEST_CASE("verifier: of each block of n the one with the highest score is taken") {
  const test::TempFolder folder;
  Longest model(4);
  const auto figures = verified(model, *played(folder / "run"));
  CHECK(values_of(figures->best) == std::map<int, double>{{1, 0.25}, {2, 0.25}, {4, 0.5}});
  CHECK(figures->not_fitting.empty());
}

TEST_CASE("verifier: a vote weighs e to the power of its score, and the best of the side that wins is taken") {
  const test::TempFolder folder;
  int run = 0;
  const auto majority_of_4 = [&](double scale, const std::vector<std::string>& answers, const std::string& right) {
    Longest model(4, scale);
    const auto reader = played(folder / std::to_string(run++), false, answers, right);
    return verified(model, *reader)->majority.at(4).value;
  };
  CHECK(majority_of_4(0.5, {"7", "7", "7.0", "8"}, "7.0") ==
        1.0);  // e^0.5 + e^1 + e^1.5 > e^2; takes the longest of the three
  CHECK(majority_of_4(1, {"7", "7", "7.0", "8"}, "8") == 1.0);   // e + e^2 + e^3 < e^4
  CHECK(majority_of_4(0.5, {"8", "7", "7", "6"}, "6") == 1.0);   // two votes do not outweigh it
  CHECK(majority_of_4(0.25, {"8", "7", "7", "6"}, "7") == 1.0);  // at a smaller scale they do
  CHECK(majority_of_4(1, {"7", "8", "", ""}, "8") == 1.0);       // responses without an answer have no vote
  CHECK(majority_of_4(1, {"", "", "", ""}, "7") == 0.0);
  CHECK(majority_of_4(0.25, {"[0,0,10,10]", "[0,0,10,9]", "[50,50,60,60]", "none"}, "[0,0,10,9]") == 1.0);
}

TEST_CASE("verifier: a task that lacks a sample adds no n of its own") {
  const test::TempFolder folder;
  Longest model(4);
  const auto figures = verified(model, *played(folder / "run", true));
  CHECK(values_of(figures->best) == std::map<int, double>{{1, (0.25 + 1.0 / 3) / 2}, {2, (0.5 + 0) / 2}, {4, 1.0}});
  CHECK(figures->best.at(4).tasks == 1);
}

TEST_CASE("verifier: an n whose block passes the context is left out, and said") {
  const test::TempFolder folder;
  Longest model(2);
  const auto figures = verified(model, *played(folder / "run"));
  CHECK(values_of(figures->best) == std::map<int, double>{{1, 0.25}, {2, 0.25}, {4, -1}});
  CHECK_FALSE(figures->majority.at(4).defined());
  CHECK(figures->not_fitting == std::set<int>{4});
}
