// agents/learn/loop/sft_score.h - the second stage of `agon train-sft`: the scores that the model writes learn what
// they say. The model answers train tasks, several times each; what it then learns to write after an answer is the mean
// of that answer's outcome (0 or 1) and of the outcomes of all answers to its task. Answers keep training on
// demonstrations beside it.
#pragma once

#include <atomic>
#include <vector>

#include "agents/learn/data/sft_data.h"
#include "agents/policy.h"
#include "record/episode.h"

namespace agon::agents {

// An answer of the model and the score that it is to write after it. Holds the messages and not the sequence: patches
// take eight times the room of their picture.
struct ScoredAnswer {
  Demonstration turns;  // up to the last turn's </answer>
  int digit = 5;        // of the score 0.digit; 1..9
};

// Plays `tasks` train tasks of a source, `samples` samples each at T = 1, with progress on stderr, and returns one
// answer an episode (a random turn of it) in random order. Turns without a well-formed answer are left out. An outcome
// is the turn's step_correct or turn_correct where it has one, else the episode's success. When *stop becomes true,
// some are missing.
std::vector<ScoredAnswer> sample_answers(Policy& policy, const SftSource& source, std::uint64_t seed,
                                         std::uint64_t first_task, int tasks, int samples,
                                         const std::atomic<bool>* stop = nullptr);
// The digit for an answer of outcome `right`, when `right_share` of its task's answers are right.
int score_digit(bool right, double right_share);
// The answer followed by its score; from <score> on everything is trained, and nothing before.
SftSequence encode_scored(const ScoredAnswer& answer, const ModelFolder& folder);

}  // namespace agon::agents
