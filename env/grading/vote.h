// env/grading/vote.h - a weighted majority vote among several answers to one question. Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"

namespace agon::env {

struct Vote {
  std::optional<std::string> answer;  // nullopt: no vote, but it keeps its index
  double weight = 1;
};
// Returns the index of the first vote of the side with the most weight (ties: the side whose first vote comes first);
// nullopt without votes. Equal numbers ("7", "7.0") form a side, and so do texts with equal normalize_answer. A blank
// answer has no vote. `boxes`: boxes that overlap form a side (IoU > 0.5 with its mean), and other answers have no vote
// unless none is a box.
std::optional<std::size_t> winning_vote(const std::vector<Vote>& votes, bool boxes = false);
// The same, but the task's own grader (TaskInfo::grading, env/grading/grader.h) decides which answers form a side. An
// answer that it cannot read has no vote, unless it can read none of them. null: as above.
std::optional<std::size_t> winning_vote(const std::vector<Vote>& votes, const Json& grading, bool boxes = false);

}  // namespace agon::env
