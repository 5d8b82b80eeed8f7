// agents/learn/loop/sft_score.h - the second stage of `agon train-sft`, which teaches the model to write meaningful
// scores. The model answers train tasks several times each. The target score of an answer is the mean of its outcome (0
// or 1) and the average outcome of all answers to its task. Training on demonstrations continues alongside.
#pragma once

#include <atomic>
#include <vector>

#include "agents/learn/data/sft/data.h"
#include "agents/policy.h"
#include "record/episode.h"

namespace agon::agents {

// An answer of the model and its target score. Holds messages rather than the sequence, since patches take eight times
// the memory of their picture.
struct ScoredAnswer {
  Demonstration turns;  // up to the last turn's </answer>
  int digit = 5;        // of the score 0.digit; 1..9
};

// Plays `tasks` train tasks of a source, `samples` samples each at T = 1, with progress on stderr, and returns one
// answer per episode (a random turn of it), in random order. Turns without a well-formed answer are left out. An
// answer's outcome is its turn's step_correct or turn_correct if it has one, else the episode's success. When *stop
// becomes true, some are missing.
std::vector<ScoredAnswer> sample_answers(Policy& policy, const SftSource& source, std::uint64_t seed,
                                         std::uint64_t first_task, int tasks, int samples,
                                         const std::atomic<bool>* stop = nullptr);
// The digit for an answer with outcome `right` if `right_share` of its task's answers are right.
int score_digit(bool right, double right_share);
// The answer followed by its score; everything from <score> on is trained, nothing before.
SftSequence encode_scored(const ScoredAnswer& answer, const ModelFolder& folder);

}  // namespace agon::agents
