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
  std::vector<record::Turn> given;  // the expert's turns before, each `given`
  env::Observation observation;     // the observation of the policy
  std::string text;                 // the expert's turn on it
  bool searches = false;            // the expert searches in this episode: the rules of the search agent apply
};

// Plays the expert of the task that `env` has just been reset to (with the answer `first`) up to a turn drawn from
// `rng`, all with equal chance. Throws Error for a suite without an expert.
ExpertTurn play_to_expert_turn(env::Env& env, const env::StepResult& first, Rng& rng);

// Grades a policy's turn at that place. The turn ends the episode and is not played in any env.
env::StepResult grade_turn(const ExpertTurn& place, const std::string& turn, const ExpertTurnRules& rules);

}  // namespace agon::agents
