// agents/learn/data/sft/answers.h - plays the train tasks of a source with a model, to use its answers in supervised
// training.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "agents/policy.h"
#include "core/message.h"
#include "core/progress.h"
#include "env/suite.h"
#include "record/episode.h"

namespace agon::agents {

// Plays `tasks` train tasks of a suite, `samples` samples each at T = 1; returns the episodes in order of task and
// sample. When *stop becomes true, some are missing. progress: counts each episode.
std::vector<record::Episode> play_train_tasks(Policy& policy, const env::Suite& suite, std::uint64_t seed,
                                              std::uint64_t first_task, int tasks, int samples,
                                              const std::atomic<bool>* stop = nullptr, Progress* progress = nullptr);

// The policy's answer to a train task, used as the first answer of a two-turn demonstration.
struct FirstAnswer {
  std::uint64_t task = 0;
  Message message;  // with its tokens as sampled
};
// Samples one answer to each of `tasks` train tasks of a one-turn suite, with progress on stderr. When *stop becomes
// true, some are missing.
std::vector<FirstAnswer> sample_first_answers(Policy& policy, const env::Suite& suite, std::uint64_t seed,
                                              std::uint64_t first_task, std::int64_t tasks,
                                              const std::atomic<bool>* stop = nullptr);

}  // namespace agon::agents
