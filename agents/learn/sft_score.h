// agents/learn/sft_score.h - the second stage of `agon train-sft`: the scores that the model writes learn what they
// say. The model answers train tasks; first its score token learns from right (0.9) and wrong (0.1) answers, so that
// the token's probability is that of being right; then the score is written from that probability. Answers keep
// training on demonstrations beside it.
#pragma once

#include <vector>

#include "agents/learn/sft_data.h"
#include "agents/policy.h"
#include "env/episode.h"

namespace agon::agents {

// An answer of the model and the score that it is to write after it. Holds the messages and not the sequence: patches
// take eight times the room of their picture.
struct ScoredAnswer {
  Demonstration turns;  // up to the last turn's </answer>
  bool right = false;
  int digit = 5;  // of the score 0.digit
};

// Plays `tasks` train tasks of a source, `samples` samples each at T = 1, and returns one answer an episode (a random
// turn of it). Turns without a well-formed answer are left out. right: the turn's step_correct where the suite labels
// it, else the episode's success.
std::vector<ScoredAnswer> sample_answers(Policy& policy, const SftSource& source, std::uint64_t seed,
                                         std::uint64_t first_task, int tasks, int samples);

// The answer followed by its score, of which the digit alone is trained.
SftSequence encode_scored(const ScoredAnswer& answer, const ModelFolder& folder);
// Throws Error for a tokenizer that does not write a digit as one token.
std::int32_t digit_token(const Tokenizer& tokenizer, int digit);

}  // namespace agon::agents
