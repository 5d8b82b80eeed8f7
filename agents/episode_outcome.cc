#include "agents/episode_outcome.h"

#include "env/grading/box_text.h"

namespace agon::agents {

EpisodeOutcome outcome_of(const record::Episode& episode) {
  EpisodeOutcome outcome;
  outcome.task_index = episode.task_index;
  outcome.sample = episode.sample;
  outcome.level = episode.level;
  outcome.kind = episode.kind;
  outcome.failed = episode.status == record::EpisodeStatus::failed;
  outcome.success = episode.success;
  outcome.reward = episode.reward;
  outcome.score = episode.score;
  outcome.answer = episode.answer;
  const Json& gold = episode.gold;
  const bool gold_is_box = env::parse_box(gold.is_string() ? gold.get<std::string>() : gold.dump()).has_value();
  outcome.answer_is_box = gold_is_box && episode.answer && env::parse_box(*episode.answer);
  if (!episode.turns.empty()) outcome.grading = episode.turns.back().facts.grading;
  // Without an answer tag the whole turn is graded, and it counts as the vote.
  if (!outcome.answer && !outcome.grading.is_null()) outcome.answer = episode.turns.back().text;
  outcome.turn_correct = record::turns_correct(episode);
  for (const record::Turn& turn : episode.turns) {
    outcome.prompt_tokens += turn.prompt_tokens;
    outcome.tokens += turn.tokens();
    if (!turn.facts.step_correct) continue;
    ++outcome.steps;
    outcome.right_steps += *turn.facts.step_correct;
  }
  return outcome;
}

}  // namespace agon::agents
