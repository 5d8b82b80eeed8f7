#include "env/vote.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "env/box.h"
#include "env/grade.h"

namespace agon::env {
namespace {

std::string side_of(const std::string& answer) {
  const std::optional<double> number = parse_number(answer);
  return number ? fmt::format("{:.12g}", *number) : fmt::format("={}", normalize_answer(answer));
}

std::optional<std::size_t> winning_text(const std::vector<Vote>& votes) {
  std::map<std::string, double> sides;
  std::vector<double*> side_of_vote;
  for (const Vote& vote : votes) {
    side_of_vote.push_back(&sides[side_of(vote.answer)]);
    *side_of_vote.back() += vote.weight;
  }
  const auto most = std::max_element(side_of_vote.begin(), side_of_vote.end(),
                                     [](const double* a, const double* b) { return *a < *b; });
  if (most == side_of_vote.end()) return std::nullopt;
  return static_cast<std::size_t>(most - side_of_vote.begin());
}

}  // namespace

std::optional<std::size_t> winning_vote(const std::vector<Vote>& votes, bool boxes) {
  std::vector<Box> places;
  std::vector<double> weights;
  std::vector<std::size_t> owners;
  for (std::size_t i = 0; boxes && i < votes.size(); ++i) {
    const std::optional<Box> box = parse_box(votes[i].answer);
    if (!box) continue;
    places.push_back(*box);
    weights.push_back(votes[i].weight);
    owners.push_back(i);
  }
  return places.empty() ? winning_text(votes) : owners[largest_cluster(places, weights).front()];
}

}  // namespace agon::env
