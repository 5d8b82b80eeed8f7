// agents/rollout.h - plays episodes: groups of samples of each task on a pool of threads, with one policy and one env
// per sample; of a resumed run those that are not finished.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agents/expert_turn.h"
#include "agents/policy.h"
#include "env/suite.h"
#include "record/episode.h"

namespace agon::agents {

struct RolloutOptions {
  env::Suite suite;
  env::Split split = env::Split::test;
  std::uint64_t first_task = 0, tasks = 100;
  std::vector<std::uint64_t> chosen;  // if not empty: these tasks instead of the range above
  int samples = 8;                    // per task, at `sampling`
  bool greedy = true;                 // one more sample at T = 0, numbered record::kGreedySample
  Sampling sampling;                  // its seed is ignored: each sample's stream is derived from `seed`
  std::uint64_t seed = 0;             // root: (seed, purpose, task id, sample)
  std::uint64_t round = 0;            // another round samples the same tasks anew
  // An episode is one turn of the policy after turns of the expert; the task's id determines which one.
  std::optional<ExpertTurnRules> expert_turn;
  int threads = 32;  // groups played at a time; no influence on any episode
};

// Plays every (task, sample) not in `finished` and hands each episode to `record` (called from several threads). A
// transcript that outgrows the policy's context ends its episode as truncated; its last turn's info says so:
// "context": {"prompt_tokens", "holds"}. If an env or policy throws, the episode is tried twice more and then fails; a
// completion with a failure fails it at once; PolicyGone stops the run. Every episode plays in a fork of one env. When
// *stop becomes true, ends after the turns under way and drops unfinished episodes. Errors of `record` stop the run and
// are thrown here.
void play(Policy& policy, const RolloutOptions& options, const std::set<std::pair<std::uint64_t, int>>& finished,
          const std::function<void(record::Episode)>& record, const std::atomic<bool>* stop = nullptr);

// Fills in success, truncated, answer and score from an episode's last turn and the env's answer to it.
void finish_episode(record::Episode& episode, const env::StepResult& last);

}  // namespace agon::agents
