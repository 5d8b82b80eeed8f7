// env/grading/vote.h - finds the answer that most votes are for, among several answers to one question. Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"

namespace agon::env {

struct Vote {
  std::optional<std::string> answer;  // none: no vote, but it keeps its place
  double weight = 1;
};
// The place of the first vote of the side with the most weight; ties: the side that spoke first. Numbers are one side
// by value ("7", "7.0"), other texts by normalize_answer. boxes: answers that are boxes are sides by overlap (IoU > 0.5
// with the side's mean), and others have no vote unless none is a box. An answer of nothing but white space has no
// vote. Nothing without votes.
std::optional<std::size_t> winning_vote(const std::vector<Vote>& votes, bool boxes = false);
// The same by the task's own grader (TaskInfo::grading, env/grading/grader.h), which says what answers are one side;
// what it cannot read has no vote unless it can read none. null: as above.
std::optional<std::size_t> winning_vote(const std::vector<Vote>& votes, const Json& grading, bool boxes = false);

}  // namespace agon::env
