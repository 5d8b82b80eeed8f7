#include "agents/rollout.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>

#include "core/error.h"
#include "core/rng.h"
#include "env/protocol.h"
#include "net/http_client.h"

namespace agon::agents {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRetries = 2;

// One sample being played: its env, its transcript so far, its record.
struct Sample {
  std::unique_ptr<env::Env> env;
  std::vector<Message> messages;
  env::Observation observation;
  record::Episode episode;
  bool over = false;
};

std::uint64_t sample_seed(const RolloutOptions& options, const std::string& task_id, int sample, std::size_t turn) {
  const std::string round = options.round ? fmt::format("round {}: ", options.round) : "";
  return Rng::derive(options.seed, "rollout", fmt::format("{}{}#{}", round, task_id, sample), turn)();
}

double accuracy_of(const env::Reward& reward) {
  for (const auto& [name, value] : reward.components)
    if (name == "accuracy") return value;
  return 0;
}

void read_last_turn(record::Episode& episode) {
  const std::string& text = episode.turns.back().text;
  episode.answer = env::extract_answer(text);
  episode.score = env::extract_score(text);
}

class GroupPlayer {
 public:
  // env: used by this group only; every sample plays in a fork of it.
  GroupPlayer(Policy& policy, const RolloutOptions& options, std::unique_ptr<env::Env> env)
      : policy_(policy), options_(options), env_(std::move(env)) {}

  // Plays the given samples of one task together: every policy call covers all unfinished ones. Returns nothing if
  // *stop becomes true before all are finished.
  std::vector<record::Episode> play(std::uint64_t task, const std::vector<int>& numbers,
                                    const std::atomic<bool>* stop) {
    const auto start = Clock::now();
    env::StepResult first = env_->reset({options_.split, task, options_.seed});
    if (options_.expert_turn) {
      Rng rng = Rng::derive(options_.seed, "expert turn", env_->task().id);
      place_ = play_to_expert_turn(*env_, first, rng);
    } else {
      place_.observation = std::move(first.observation);
    }
    std::vector<Sample> samples;
    for (int number : numbers) samples.push_back(begin(task, number));
    for (std::size_t turn = 0; std::any_of(samples.begin(), samples.end(), [](const Sample& s) { return !s.over; });
         ++turn) {
      if (stop && *stop) return {};
      play_turn(samples, turn);
    }
    std::vector<record::Episode> episodes;
    for (Sample& sample : samples) {
      sample.episode.seconds = std::chrono::duration<double>(Clock::now() - start).count();
      episodes.push_back(std::move(sample.episode));
    }
    return episodes;
  }

 private:
  Sample begin(std::uint64_t task, int number) const {
    Sample sample;
    sample.env = env_->fork();
    const env::TaskInfo& about = sample.env->task();
    sample.episode = {.task_id = about.id,
                      .task_index = task,
                      .level = about.level,
                      .kind = about.kind,
                      .prompt = about.prompt,
                      .gold = about.gold,
                      .sample = number};
    const std::string& instructions = options_.suite.info().instructions;
    if (!instructions.empty()) sample.messages.push_back(Message::of(Role::system, instructions));
    for (const record::Turn& turn : place_.given) {
      sample.messages.push_back({Role::user, turn.observation.parts, {}, {}});
      sample.messages.push_back(Message::of(Role::assistant, turn.text));
    }
    sample.episode.turns = place_.given;
    observe(sample, place_.observation);
    return sample;
  }

  static void observe(Sample& sample, const env::Observation& observation) {
    sample.observation = observation;
    sample.messages.push_back({Role::user, observation.parts, {}, {}});
  }

  void play_turn(std::vector<Sample>& samples, std::size_t turn) {
    std::vector<Sample*> waiting;
    std::vector<CompletionRequest> requests;
    for (Sample& sample : samples) {
      if (sample.over) continue;
      waiting.push_back(&sample);
      requests.push_back({.messages = sample.messages, .sampling = sampling_of(sample.episode, turn)});
    }
    std::vector<Completion> completions = policy_.complete(requests);
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (!completions[i].failure.empty())
        fail(*waiting[i], completions[i].failure);
      else if (completions[i].finish_reason == FinishReason::context)
        cut_short(*waiting[i], completions[i].prompt_tokens);
      else
        act(*waiting[i], std::move(completions[i]));
    }
  }

  static void fail(Sample& sample, const std::string& why) {
    sample.over = true;
    sample.episode.status = record::EpisodeStatus::failed;
    sample.episode.failure = why;
    sample.episode.turns.clear();
  }

  // The transcript has outgrown the policy's context: the episode ends with its turns so far.
  void cut_short(Sample& sample, int prompt_tokens) const {
    record::Episode& episode = sample.episode;
    const int context = policy_.capabilities().max_context;
    if (episode.turns.size() == place_.given.size())
      throw Error("rollout: task {} shows {} tokens before the first answer; the context of {} holds {}.",
                  episode.task_id, prompt_tokens, policy_.capabilities().name, context);
    sample.over = true;
    episode.truncated = true;
    episode.turns.back().full_context = {prompt_tokens, context};
    read_last_turn(episode);
  }

  Sampling sampling_of(const record::Episode& episode, std::size_t turn) const {
    Sampling sampling = options_.sampling;
    sampling.seed = sample_seed(options_, episode.task_id, episode.sample, turn);
    if (episode.sample == record::kGreedySample) sampling.temperature = 0;
    return sampling;
  }

  void act(Sample& sample, Completion completion) {
    const env::StepResult result = options_.expert_turn ? grade_turn(place_, completion.text, *options_.expert_turn)
                                                        : sample.env->step({completion.text, {}});
    Message said = Message::of(Role::assistant, completion.text);
    said.token_ids = completion.token_ids;
    sample.messages.push_back(std::move(said));
    record::Episode& episode = sample.episode;
    episode.reward += result.reward.total;
    sample.over = result.terminated || result.truncated;
    episode.turns.push_back({.observation = std::move(sample.observation),
                             .text = std::move(completion.text),
                             .token_ids = std::move(completion.token_ids),
                             .logprobs = std::move(completion.logprobs),
                             .counted_tokens = completion.counted_tokens,
                             .reasoning = std::move(completion.reasoning),
                             .finish_reason = std::string(to_string(completion.finish_reason)),
                             .prompt_tokens = completion.prompt_tokens,
                             .reward = result.reward,
                             .facts = result});
    if (sample.over)
      finish_episode(episode, result);
    else
      observe(sample, result.observation);
  }

  Policy& policy_;
  const RolloutOptions& options_;
  std::unique_ptr<env::Env> env_;
  ExpertTurn place_;  // where the samples begin; without options.expert_turn, at the task's first turn
};

// The result if every attempt to play a group has thrown: failed episodes with the reason, counted separately.
std::vector<record::Episode> failed_episodes(const RolloutOptions& options, std::uint64_t task,
                                             const std::vector<int>& numbers, const std::string& why) {
  std::vector<record::Episode> episodes;
  for (int number : numbers) {
    record::Episode episode;
    episode.task_id = options.suite.task_id({options.split, task, options.seed});
    episode.task_index = task;
    episode.sample = number;
    episode.status = record::EpisodeStatus::failed;
    episode.failure = why;
    episodes.push_back(std::move(episode));
  }
  return episodes;
}

// new_env: called for each attempt.
template <typename NewEnv>
std::vector<record::Episode> play_with_retries(Policy& policy, const RolloutOptions& options, const NewEnv& new_env,
                                               std::uint64_t task, const std::vector<int>& numbers,
                                               const std::atomic<bool>* stop) {
  for (int attempt = 0;; ++attempt) try {
      return GroupPlayer(policy, options, new_env()).play(task, numbers, stop);
    } catch (const PolicyGone&) {
      throw;
    } catch (const std::exception& error) {
      if (attempt == kRetries) return failed_episodes(options, task, numbers, error.what());
    }
}

std::vector<int> samples_left(const RolloutOptions& options, std::uint64_t task,
                              const std::set<std::pair<std::uint64_t, int>>& finished) {
  std::vector<int> numbers;
  for (int number = options.greedy ? record::kGreedySample : 0; number < options.samples; ++number)
    if (!finished.contains({task, number})) numbers.push_back(number);
  return numbers;
}

}  // namespace

void finish_episode(record::Episode& episode, const env::StepResult& last) {
  episode.success = last.success.value_or(accuracy_of(last.reward) >= 1);
  episode.truncated = last.truncated;
  read_last_turn(episode);
}

void play(Policy& policy, const RolloutOptions& options, const std::set<std::pair<std::uint64_t, int>>& finished,
          const std::function<void(record::Episode)>& record, const std::atomic<bool>* stop) {
  std::atomic<std::uint64_t> next = 0;
  std::atomic<bool> broken = false;
  std::mutex mutex;
  std::exception_ptr failure;
  const std::unique_ptr<env::Env> original = options.suite.make_env();
  original->prepare();
  const auto new_env = [&] {
    const std::lock_guard lock(mutex);
    return original->fork();
  };
  const std::uint64_t tasks = options.chosen.empty() ? options.tasks : options.chosen.size();
  const auto work = [&] {
    std::optional<net::HttpStop> stop_requests;
    if (stop) stop_requests.emplace(*stop);
    while (!broken && !(stop && *stop)) {
      const std::uint64_t place = next++;
      if (place >= tasks) return;
      const std::uint64_t task = options.chosen.empty() ? options.first_task + place : options.chosen[place];
      const std::vector<int> numbers = samples_left(options, task, finished);
      if (numbers.empty()) continue;
      try {
        for (record::Episode& episode : play_with_retries(policy, options, new_env, task, numbers, stop))
          record(std::move(episode));
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        broken = true;
      }
    }
  };
  {
    std::vector<std::jthread> pool;
    const auto threads = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(options.threads), 1, tasks);
    for (std::uint64_t i = 0; i < threads; ++i) pool.emplace_back(work);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace agon::agents
