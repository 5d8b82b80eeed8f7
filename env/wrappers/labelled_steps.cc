#include "env/wrappers/labelled_steps.h"

#include <algorithm>
#include <cassert>

#include "env/protocol.h"

namespace agon::env {

std::vector<LabelledTurnStep> labelled_steps(const Env& env, std::string_view turn) {
  std::vector<LabelledTurnStep> steps;
  std::string before;
  int position = 0;
  for (const Span& span : split_steps(turn)) {
    const StepQuery query{before, std::string(without_score(span.of(turn)))};
    if (const auto label = env.check_step(query)) steps.push_back({query, position, *label});
    before += (before.empty() ? "" : "\n\n") + query.step;
    ++position;
  }
  return steps;
}

std::vector<SolutionTurn> expert_turns(const Env& env, const StepResult& first, Rng& rng) {
  std::vector<SolutionTurn> turns;
  std::vector<Message> transcript{{Role::user, first.observation.parts, {}, {}}};
  std::unique_ptr<Env> at = env.fork();
  for (bool over = false; !over;) {
    const auto actions = at->demonstrate(rng);
    if (!actions || actions->empty()) return {};
    const Action& action = actions->front();
    turns.push_back({transcript, at->fork(), action.text});
    StepResult next = at->step(action);
    transcript.push_back(Message::of(Role::assistant, action.text));
    transcript.push_back({Role::user, std::move(next.observation.parts), {}, {}});
    over = next.terminated || next.truncated;
  }
  return turns;
}

bool has_labelled_steps(const Suite& suite) {
  if (!suite.info().has_expert) return false;
  const std::unique_ptr<Env> env = suite.make_env();
  const StepResult first = env->reset({Split::test, 0, 0});
  Rng rng = Rng::derive(0, "known steps");
  const std::vector<SolutionTurn> turns = expert_turns(*env, first, rng);
  return std::any_of(turns.begin(), turns.end(),
                     [](const SolutionTurn& turn) { return !labelled_steps(*turn.env, turn.text).empty(); });
}

std::optional<CorruptedStep> corrupted(const Env& env, const StepQuery& right, Rng& rng) {
  std::vector<ErrorKind> kinds(kErrorKinds.begin(), kErrorKinds.end());
  rng.shuffle(kinds);
  if (rng.chance(0.8))
    std::stable_partition(kinds.begin(), kinds.end(), [](ErrorKind k) { return k != ErrorKind::unjustified_jump; });
  for (const ErrorKind kind : kinds) {
    const auto wrong = env.corrupt_step(right, kind, rng);
    if (!wrong) continue;
    const auto label = env.check_step({right.before, *wrong});
    assert(label && !label->correct);
    return CorruptedStep{kind, *wrong, *label};
  }
  return std::nullopt;
}

}  // namespace agon::env
