#include "record/episode.h"

namespace agon::record {

std::vector<bool> turns_correct(const Episode& episode) {
  std::vector<bool> correct;
  for (const Turn& turn : episode.turns)
    if (turn.info.contains("turn_correct")) correct.push_back(turn.info["turn_correct"] == true);
  if (correct.size() == 1 && fills_context(episode.turns.back())) correct.push_back(false);
  return correct;
}

}  // namespace agon::record
