#include "env/vote.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "env/box.h"
#include "env/grade.h"

namespace agon::env {
namespace {

std::string side_of(const std::string& answer) {
  const std::optional<double> number = parse_number(answer);
  return number ? fmt::format("{:.12g}", *number) : fmt::format("={}", normalize_answer(answer));
}

std::optional<std::size_t> winning_text(const std::vector<Vote>& votes) {
  struct Side {
    std::size_t first;
    double weight;
  };
  std::map<std::string, Side> sides;
  for (std::size_t i = 0; i < votes.size(); ++i)
    if (votes[i].answer)
      sides.try_emplace(side_of(*votes[i].answer), Side{i, 0}).first->second.weight += votes[i].weight;
  const auto most = std::max_element(sides.begin(), sides.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second.weight, b.second.first) < std::pair(b.second.weight, a.second.first);
  });
  if (most == sides.end()) return std::nullopt;
  return most->second.first;
}

}  // namespace

std::optional<std::size_t> winning_vote(const std::vector<Vote>& votes, bool boxes) {
  std::vector<Box> places;
  std::vector<double> weights;
  std::vector<std::size_t> owners;
  for (std::size_t i = 0; boxes && i < votes.size(); ++i) {
    const std::optional<Box> box = votes[i].answer ? parse_box(*votes[i].answer) : std::nullopt;
    if (!box) continue;
    places.push_back(*box);
    weights.push_back(votes[i].weight);
    owners.push_back(i);
  }
  return places.empty() ? winning_text(votes) : owners[largest_cluster(places, weights).front()];
}

}  // namespace agon::env
