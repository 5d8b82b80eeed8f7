// agents/rollout.h - plays the episodes of a run: several samples of each task. All samples share one policy; each has
// its own env. A pool of threads plays the tasks; a resumed run plays only the samples that are not finished.
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
  bool greedy = true;                 // plus one sample at T = 0, numbered record::kGreedySample
  Sampling sampling;                  // its seed is ignored: each sample's random stream is derived from `seed`
  std::uint64_t seed = 0;             // root of all streams: (seed, purpose, task id, sample)
  std::uint64_t round = 0;            // another round draws new samples of the same tasks
  // If set, an episode is one turn of the policy after turns of the expert; seed and task id determine which turn.
  std::optional<ExpertTurnRules> expert_turn;
  int threads = 32;  // tasks played at a time; no influence on any episode
};

// Plays every (task, sample) not in `finished` and hands each episode to `record` (called from several threads). Every
// episode plays in a fork of one env. A transcript that outgrows the policy's context ends its episode as truncated;
// the info of its last turn then has "context": {"prompt_tokens", "holds"}.
// If an env or policy throws, the task's samples are retried twice and then fail. A completion with a failure fails its
// episode at once. PolicyGone and errors of `record` stop the run and are thrown here. When *stop becomes true, play()
// returns after the current turns and drops the episodes of unfinished tasks.
void play(Policy& policy, const RolloutOptions& options, const std::set<std::pair<std::uint64_t, int>>& finished,
          const std::function<void(record::Episode)>& record, const std::atomic<bool>* stop = nullptr);

// Fills in success, truncated, answer and score from an episode's last turn and the env's result for it.
void finish_episode(record::Episode& episode, const env::StepResult& last);

}  // namespace agon::agents
