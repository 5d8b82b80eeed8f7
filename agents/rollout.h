// agents/rollout.h - plays episodes: groups of samples of each task on a pool of threads, one policy, one env a sample.
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
  std::vector<std::uint64_t> chosen;  // if not empty: these tasks, and not the range above
  int samples = 8;                    // a task, at `sampling`
  bool greedy = true;                 // one more sample at T = 0, numbered record::kGreedySample
  Sampling sampling;                  // its seed is ignored: each sample's stream is derived from `seed`
  std::uint64_t seed = 0;             // root: (seed, purpose, task id, sample)
  std::uint64_t round = 0;            // another round samples the same tasks anew
  // An episode is one turn of the policy's, after turns of the expert's; which one, the task's id draws.
  std::optional<ExpertTurnRules> expert_turn;
  int threads = 32;  // groups under way at a time; no influence on any episode
};

// Plays every (task, sample) not in `finished` and hands each episode to `record` (called from several threads). A
// transcript that outgrows the policy's context ends its episode as truncated; its last turn's info says so:
// "context": {"prompt_tokens", "holds"}. An env or policy that throws makes a failed episode, after two more tries;
// a completion that failed on the way makes one at once; a policy that is gone (PolicyGone) stops the run.
// Every episode plays in a fork of one env. When *stop becomes true, ends with the turns under way and drops the
// episodes that they leave unfinished. Errors of `record` stop the run and are thrown here.
void play(Policy& policy, const RolloutOptions& options, const std::set<std::pair<std::uint64_t, int>>& finished,
          const std::function<void(record::Episode)>& record, const std::atomic<bool>* stop = nullptr);

// Fills in what an episode's last turn and the env's answer to it say: success, truncated, answer, score.
void finish_episode(record::Episode& episode, const env::StepResult& last);

}  // namespace agon::agents
