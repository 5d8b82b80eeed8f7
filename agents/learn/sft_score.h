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

// An answer of the model with its place for a score: the last trained token of `sequence` is the score's digit.
struct ScoredAnswer {
  SftSequence sequence;
  bool right = false;
};

// Plays `tasks` train tasks of a source, `samples` samples each at T = 1, and returns one answer an episode (a random
// turn of it). Turns without a well-formed answer are left out. right: the turn's step_correct where the suite labels
// it, else the episode's success.
std::vector<ScoredAnswer> sample_answers(Policy& policy, const SftSource& source, const ModelFolder& folder,
                                         std::uint64_t seed, std::uint64_t first_task, int tasks, int samples);

// The token of digit 0-9, and the same sequence with another digit in its place.
std::int32_t digit_token(const Tokenizer& tokenizer, int digit);
SftSequence with_score(const SftSequence& sequence, std::int32_t digit);

}  // namespace agon::agents
