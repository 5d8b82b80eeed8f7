#include "agents/learn/data/sft/answers.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "agents/rollout.h"

namespace agon::agents {

std::vector<record::Episode> play_train_tasks(Policy& policy, const env::Suite& suite, std::uint64_t seed,
                                              std::uint64_t first_task, int tasks, int samples,
                                              const std::atomic<bool>* stop, Progress* progress) {
  RolloutOptions rollout{.suite = suite};
  rollout.split = env::Split::train;
  rollout.first_task = first_task;
  rollout.tasks = static_cast<std::uint64_t>(tasks);
  rollout.samples = samples;
  rollout.greedy = false;
  rollout.seed = seed;
  std::vector<record::Episode> episodes;
  std::mutex mutex;
  play(
      policy, rollout, {},
      [&](record::Episode episode) {
        const std::lock_guard lock(mutex);
        episodes.push_back(std::move(episode));
        if (progress) progress->add(1);
      },
      stop);
  std::sort(episodes.begin(), episodes.end(), [](const auto& a, const auto& b) {
    return std::pair(a.task_index, a.sample) < std::pair(b.task_index, b.sample);
  });
  return episodes;
}

std::vector<FirstAnswer> sample_first_answers(Policy& policy, const env::Suite& suite, std::uint64_t seed,
                                              std::uint64_t first_task, std::int64_t tasks,
                                              const std::atomic<bool>* stop) {
  constexpr std::int64_t kTogether = 512;  // tasks whose pictures are in memory at a time
  std::vector<FirstAnswer> answers;
  Progress progress("train-sft: first answers to " + suite.name(), tasks, "answers");
  for (std::int64_t first = 0; first < tasks && !(stop && *stop); first += kTogether) {
    const int count = static_cast<int>(std::min(kTogether, tasks - first));
    for (record::Episode& episode : play_train_tasks(
             policy, suite, seed, first_task + static_cast<std::uint64_t>(first), count, 1, stop, &progress)) {
      if (episode.turns.empty()) continue;  // failed
      Message message = Message::of(Role::assistant, std::move(episode.turns.front().text));
      message.token_ids = std::move(episode.turns.front().token_ids);
      answers.push_back({episode.task_index, std::move(message)});
    }
  }
  return answers;
}

}  // namespace agon::agents
