// agents/expert_turn.h - training on single turns, as in Visual-ARFT: the expert plays an episode up to some turn, the
// policy writes that turn, and it is graded against the expert's.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/rng.h"
#include "env/grading/text_similarity.h"
#include "env/grading/visual_arft.h"
#include "record/episode.h"

namespace agon::agents {

struct ExpertTurnRules {
  env::VisualArftRules rewards;
  std::shared_ptr<const env::TextSimilarity> similarity = env::word_overlap_similarity();
};

struct ExpertTurn {
  std::vector<record::Turn> given;  // the expert's earlier turns, each marked `given`
  env::Observation observation;     // what the policy sees at this turn
  std::string text;                 // the expert's answer to it
  bool searches = false;            // the expert searches in this episode, so the search agent's rules apply
};

// Plays the expert up to a turn that is drawn uniformly with `rng`. REQUIRES: `env` has just been reset, and `first` is
// what reset returned. Throws Error for a suite without an expert.
ExpertTurn play_to_expert_turn(env::Env& env, const env::StepResult& first, Rng& rng);

// Grades a policy's turn against the expert's. The turn ends the episode and is not played in any env.
env::StepResult grade_turn(const ExpertTurn& place, const std::string& turn, const ExpertTurnRules& rules);

}  // namespace agon::agents
