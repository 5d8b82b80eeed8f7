#include "agents/learn/data/task_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <map>
#include <mutex>

#include "agents/learn/data/sft/data.h"
#include "agents/rollout.h"
#include "core/error.h"
#include "core/progress.h"
#include "env/protocol.h"

namespace agon::agents {
namespace {

constexpr std::uint64_t kChoosing = ~std::uint64_t{0};  // `round` of choose_tasks; no step has it

bool second_right(const record::Episode& episode) { return episode.success; }

bool first_right(const record::Episode& episode) {
  return episode.turns.front().facts.turn_correct.value_or(episode.success);
}

const record::Episode* failed_episode(const std::vector<record::Episode>& group) {
  const auto failed = std::find_if(group.begin(), group.end(), [](const record::Episode& episode) {
    return episode.status == record::EpisodeStatus::failed;
  });
  return failed == group.end() ? nullptr : &*failed;
}

// Whether the group is complete and neither all right (in every turn) nor all wrong.
bool is_mixed(const std::vector<record::Episode>& group) {
  if (group.empty() || failed_episode(group)) return false;
  const auto all = [&](bool right) {
    return std::all_of(group.begin(), group.end(), [&](const record::Episode& episode) {
      return first_right(episode) == right && second_right(episode) == right;
    });
  };
  return !all(true) && !all(false);
}

// An expert's episode in the form of a policy's, without log-probabilities.
record::Episode expert_episode(env::Env& env, const env::ResetOptions& task, const std::string& instructions,
                               const ModelFolder& folder) {
  Rng rng = Rng::derive(task.seed, "expert", env::to_string(task.split), task.index);
  env::StepResult state = env.reset(task);
  const env::TaskInfo& about = env.task();
  record::Episode episode;
  episode.task_id = about.id;
  episode.task_index = task.index;
  episode.level = about.level;
  episode.kind = about.kind;
  episode.prompt = about.prompt;
  episode.gold = about.gold;
  while (!state.terminated && !state.truncated) {
    const auto actions = env.demonstrate(rng);
    if (!actions || actions->empty()) throw Error("train: task {} has no expert to learn from.", about.id);
    record::Turn& turn = episode.turns.emplace_back();
    turn.observation = state.observation;
    turn.text = scored_answer(actions->front().text, rng);
    turn.token_ids = folder.tokenizer->encode(turn.text, false, TextPlace::within);
    turn.token_ids.push_back(folder.config.eos_token_ids.front());
    turn.finish_reason = "stop";
    const std::vector<Message> before = messages_before_last_turn(episode, instructions);
    turn.prompt_tokens = static_cast<int>(
        encode_prompt(before, {}, folder.chat, *folder.tokenizer, folder.images, folder.config).ids.size());
    state = env.step({turn.text, {}});
    turn.reward = state.reward;
    turn.facts = state;
    episode.reward += state.reward.total;
  }
  finish_episode(episode, state);
  return episode;
}

}  // namespace

TaskSource::TaskSource(const PlayConfig& config, std::size_t index, const ModelFolder& folder, ResponseScorer* scorer)
    : config_(config),
      source_(config.sources[index]),
      index_(index),
      folder_(folder),
      scorer_(scorer),
      instructions_(source_.suite.info().instructions) {}

std::vector<std::uint64_t> TaskSource::next_tasks(int count) {
  std::vector<std::uint64_t> tasks;
  for (int i = 0; i < count; ++i, ++next_)
    tasks.push_back(chosen_.empty() ? first_task_of(index_) + next_ : chosen_[next_ % chosen_.size()]);
  return tasks;
}

std::vector<std::vector<record::Episode>> TaskSource::play_tasks(Policy& policy,
                                                                 const std::vector<std::uint64_t>& tasks,
                                                                 std::uint64_t round,
                                                                 const std::atomic<bool>* stop) const {
  RolloutOptions options{.suite = source_.suite};
  options.split = env::Split::train;
  options.chosen = tasks;
  options.samples = config_.samples;
  options.greedy = false;
  options.sampling = config_.sampling;
  options.seed = config_.seed;
  options.round = round;
  options.expert_turn = source_.expert_turn;
  std::mutex mutex;
  std::map<std::uint64_t, std::vector<record::Episode>> by_task;
  agents::play(
      policy, options, {},
      [&](record::Episode episode) {
        const std::lock_guard lock(mutex);
        by_task[episode.task_index].push_back(std::move(episode));
      },
      stop);
  std::vector<std::vector<record::Episode>> groups;
  for (const std::uint64_t task : tasks) {  // in the order of tasks, not of completion
    std::vector<record::Episode>& group = by_task[task];
    std::sort(group.begin(), group.end(), [](const auto& a, const auto& b) { return a.sample < b.sample; });
    groups.push_back(std::move(group));
  }
  return groups;
}

std::vector<std::vector<record::Episode>> TaskSource::demonstrate(const std::vector<std::uint64_t>& tasks,
                                                                  PlayedGroups& played) const {
  const auto env = source_.suite.make_env();
  std::vector<std::vector<record::Episode>> groups;
  for (const std::uint64_t task : tasks) try {
      groups.push_back({expert_episode(*env, {env::Split::train, task, config_.seed}, instructions_, folder_)});
    } catch (const Error& error) {
      played.fail(error.what());
    }
  return groups;
}

void TaskSource::choose_tasks(Policy& policy, const std::atomic<bool>* stop) {
  constexpr int kTogether = 50;
  Progress progress("train: choosing tasks of " + source_.label(), config_.offline_tasks, "tasks");
  std::vector<std::uint64_t> kept;
  const std::uint64_t before = next_;
  for (int begin = 0; begin < config_.offline_tasks && !(stop && *stop); begin += kTogether) {
    const std::vector<std::uint64_t> tasks = next_tasks(std::min(kTogether, config_.offline_tasks - begin));
    const auto groups = play_tasks(policy, tasks, kChoosing, stop);
    for (std::size_t i = 0; i < tasks.size(); ++i)
      if (is_mixed(groups[i])) kept.push_back(tasks[i]);
    progress.add(std::ssize(tasks));
  }
  if (stop && *stop) {
    next_ = before;
    return;
  }
  if (std::ssize(kept) < source_.prompts)
    throw Error(
        "train: of {} tasks of {} the policy answers {} neither all right nor all wrong; a step plays {}. Raise "
        "filter.offline_tasks, choose another level, or set filter.offline to false.",
        config_.offline_tasks, source_.label(), kept.size(), source_.prompts);
  chosen_ = std::move(kept);
  next_ = 0;
}

PlayedGroups TaskSource::play(Policy& policy, int count, std::uint64_t round, const std::atomic<bool>* stop) {
  const std::vector<std::uint64_t> tasks = next_tasks(count);
  PlayedGroups played;
  for (std::vector<record::Episode>& episodes :
       source_.expert ? demonstrate(tasks, played) : play_tasks(policy, tasks, round, stop)) {
    if (episodes.empty()) continue;  // stopped
    if (const record::Episode* broken = failed_episode(episodes))
      played.fail(broken->failure);
    else if (!scorer_ || score(episodes, played))
      played.add(std::move(episodes), index_, instructions_, folder_, config_.step_rule);
  }
  return played;
}

// Returns false and counts a failed group if the reward model cannot read the responses: one may be too long for it.
bool TaskSource::score(std::vector<record::Episode>& group, PlayedGroups& played) const {
  std::vector<std::string> responses;
  for (const record::Episode& episode : group) {
    assert(episode.turns.size() == 1);  // load_train_config allows no other sources with a reward model
    responses.emplace_back(env::without_score(episode.turns.front().text));
  }
  try {
    const std::vector<double> scores = scorer_->score(first_messages(group.front(), instructions_), responses);
    for (std::size_t i = 0; i < group.size(); ++i) group[i].turns.front().model_reward = scores.at(i);
    return true;
  } catch (const Error& error) {
    played.fail(error.what());
    return false;
  }
}

Json TaskSource::position() const { return {{"next", next_}, {"chosen", chosen_}}; }

void TaskSource::restore(const Json& position) {
  next_ = position.at("next");
  chosen_ = position.at("chosen").get<std::vector<std::uint64_t>>();
}

}  // namespace agon::agents
