#include "env/grading/vote.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/text.h"
#include "env/grading/box.h"
#include "env/grading/box_text.h"
#include "env/grading/grader.h"
#include "env/grading/published_rules.h"
#include "env/grading/single_rules.h"

namespace agon::env {
namespace {

std::string side_of(const std::string& answer) {
  const std::optional<double> number = parse_number(answer);
  return number ? fmt::format("{:.12g}", *number) : fmt::format("={}", normalize_answer(answer));
}

bool has_vote(const Vote& vote) { return vote.answer && !trim(*vote.answer).empty(); }

// The first vote of the heaviest side. `names`: the side of each vote; nullopt: no vote.
template <typename Name>
std::optional<std::size_t> winning_side(const std::vector<Vote>& votes, const std::vector<std::optional<Name>>& names) {
  struct Side {
    std::size_t first;
    double weight;
  };
  std::map<Name, Side> sides;
  for (std::size_t i = 0; i < votes.size(); ++i)
    if (names[i]) sides.try_emplace(*names[i], Side{i, 0}).first->second.weight += votes[i].weight;
  const auto most = std::max_element(sides.begin(), sides.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second.weight, b.second.first) < std::pair(b.second.weight, a.second.first);
  });
  if (most == sides.end()) return std::nullopt;
  return most->second.first;
}

std::optional<std::size_t> winning_text(const std::vector<Vote>& votes) {
  std::vector<std::optional<std::string>> names;
  for (const Vote& vote : votes) names.push_back(has_vote(vote) ? std::optional(side_of(*vote.answer)) : std::nullopt);
  return winning_side(votes, names);
}

bool compares_boxes(const Json& grading) {
  const std::string grader = grading.at("grader");
  return grader == "iou" || grader == "giou" || grader == "ciou";
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

std::optional<std::size_t> winning_vote(const std::vector<Vote>& votes, const Json& grading, bool boxes) {
  if (grading.is_null()) return winning_vote(votes, boxes);
  if (compares_boxes(grading)) return winning_vote(votes, true);
  std::vector<std::string> answers;
  for (const Vote& vote : votes) answers.push_back(vote.answer.value_or(""));
  const auto winner = winning_side(votes, sides_of(answers, grading));
  return winner ? winner : winning_text(votes);
}

}  // namespace agon::env
