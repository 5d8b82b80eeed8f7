#include "agents/learn/loop/sft_score.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "agents/learn/data/sft/answers.h"
#include "core/progress.h"
#include "env/protocol.h"
#include "env/suite.h"

namespace agon::agents {
namespace {

using env::Tag;

std::vector<Message> messages_before(const record::Episode& episode, std::size_t turn,
                                     const std::string& instructions) {
  std::vector<Message> messages;
  if (!instructions.empty()) messages.push_back(Message::of(Role::system, instructions));
  for (std::size_t i = 0; i <= turn; ++i) {
    messages.push_back({Role::user, episode.turns[i].observation.parts, {}, {}});
    if (i == turn) break;
    messages.push_back(Message::of(Role::assistant, episode.turns[i].text));
    messages.back().token_ids = episode.turns[i].token_ids;
  }
  return messages;
}

Demonstration answered(const record::Episode& episode, std::size_t turn, const std::string& instructions) {
  const std::string& text = episode.turns[turn].text;
  const std::size_t end =
      env::last_tag(text, Tag::answer)->end + env::wrap(Tag::answer, "").size() - std::string_view("<answer>").size();
  Demonstration turns{messages_before(episode, turn, instructions), std::vector<bool>(turn + 1), {}};
  turns.messages.push_back(Message::of(Role::assistant, text.substr(0, end)));
  return turns;
}

}  // namespace

int score_digit(bool right, double right_share) {
  return std::clamp(static_cast<int>(std::lround(10 * ((right ? 1 : 0) + right_share) / 2)), 1, 9);
}

SftSequence encode_scored(const ScoredAnswer& answer, const ModelFolder& folder) {
  Demonstration turns = answer.turns;
  const std::string text = turns.messages.back().text();
  turns.messages.back() = Message::of(Role::assistant, text + env::wrap(Tag::score, fmt::format("0.{}", answer.digit)));
  SftSequence sequence = encode_demonstration(turns, folder);
  const std::int32_t opening = folder.tokenizer->id_of("<score>").value();
  const auto score = std::find(sequence.ids.rbegin(), sequence.ids.rend(), opening).base() - sequence.ids.begin() - 1;
  std::fill(sequence.trained.begin() + score, sequence.trained.end(), std::uint8_t{1});
  return sequence;
}

std::vector<ScoredAnswer> sample_answers(Policy& policy, const SftSource& source, std::uint64_t seed,
                                         std::uint64_t first_task, int tasks, int samples,
                                         const std::atomic<bool>* stop) {
  const std::vector<record::Episode> episodes = [&] {
    Progress progress("train-sft: answers to " + source.suite.name(), std::int64_t{tasks} * samples, "answers");
    return play_train_tasks(policy, source.suite, seed, first_task, tasks, samples, stop, &progress);
  }();
  const std::string& instructions = source.suite.info().instructions;
  struct Chosen {
    std::uint64_t task;
    Demonstration turns;
    bool right;
  };
  std::vector<Chosen> chosen;
  std::map<std::uint64_t, std::pair<int, int>> outcomes;  // task: right, all
  Rng rng = Rng::derive(seed, "scored turns", source.suite.name(), first_task);
  for (const record::Episode& episode : episodes) {
    if (episode.turns.empty()) continue;
    const auto turn = static_cast<std::size_t>(rng.between(0, static_cast<int>(episode.turns.size()) - 1));
    if (!env::last_tag(episode.turns[turn].text, Tag::answer)) continue;
    const env::StepFacts& facts = episode.turns[turn].facts;
    const bool right = facts.step_correct.value_or(facts.turn_correct.value_or(episode.success));
    outcomes[episode.task_index].first += right;
    ++outcomes[episode.task_index].second;
    chosen.push_back({episode.task_index, answered(episode, turn, instructions), right});
  }
  std::vector<ScoredAnswer> answers;
  for (Chosen& one : chosen) {
    const auto [right, all] = outcomes[one.task];
    answers.push_back({std::move(one.turns), score_digit(one.right, static_cast<double>(right) / all)});
  }
  rng.shuffle(answers);
  return answers;
}

}  // namespace agon::agents
