#include "agents/learn/data/sft/written.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "agents/learn/data/sft/answers.h"
#include "core/error.h"
#include "core/progress.h"
#include "env/protocol.h"
#include "env/wrappers/critic_role.h"
#include "env/wrappers/labelled_steps.h"

namespace agon::agents {
namespace {

constexpr int kTasksTogether = 512;  // tasks whose pictures are in memory at a time

// Right and wrong steps of one kind of task and one place in it.
struct WrittenSteps {
  std::vector<WrittenStep> right, wrong;
};
// Steps by task kind, turn and distance from the turn's end. Steps at the same distance are comparable, however many
// bars were read before.
using StepsByPlace = std::map<std::tuple<std::string, std::size_t, int>, WrittenSteps>;

void add_steps(env::Env& env, const record::Episode& episode, std::uint64_t seed, StepsByPlace& all) {
  env.reset({env::Split::train, episode.task_index, seed});
  std::vector<std::string> turns;
  for (const record::Turn& turn : episode.turns) {
    const int count = static_cast<int>(env::split_steps(turn.text).size());
    for (const env::LabelledTurnStep& step : env::labelled_steps(env, turn.text)) {
      if (!step.label.correct && step.label.truth.empty()) continue;
      WrittenSteps& steps = all[{env.task().kind, turns.size(), count - step.position}];
      (step.label.correct ? steps.right : steps.wrong)
          .push_back({episode.task_index, turns, step.query, step.label.correct});
    }
    turns.push_back(turn.text);
    env.step({turn.text, {}});
  }
}

std::vector<WrittenStep> balanced(StepsByPlace& all, Rng& rng) {
  std::vector<WrittenStep> steps;
  for (auto& [place, here] : all) {
    rng.shuffle(here.right);
    rng.shuffle(here.wrong);
    const std::size_t each = std::min(here.right.size(), here.wrong.size());
    for (std::size_t i = 0; i < each; ++i) {
      steps.push_back(std::move(here.right[i]));
      steps.push_back(std::move(here.wrong[i]));
    }
  }
  rng.shuffle(steps);
  return steps;
}

}  // namespace

std::vector<WrittenStep> sample_written_steps(Policy& writer, const SftSource& source, std::uint64_t seed,
                                              std::uint64_t first_task, const std::atomic<bool>* stop) {
  const env::Suite solver = source.solver();
  const auto env = solver.make_env();
  StepsByPlace all;
  Progress progress(fmt::format("train-sft: {} plays {}", source.writer.filename().string(), solver.name()),
                    source.written_tasks, "tasks");
  for (int first = 0; first < source.written_tasks && !(stop && *stop); first += kTasksTogether) {
    const int count = std::min(kTasksTogether, source.written_tasks - first);
    for (const record::Episode& episode :
         play_train_tasks(writer, solver, seed, first_task + static_cast<std::uint64_t>(first), count, 1, stop))
      if (episode.status == record::EpisodeStatus::done) add_steps(*env, episode, seed, all);
    progress.add(count);
  }
  Rng rng = Rng::derive(seed, "written steps", solver.name(), first_task);
  return balanced(all, rng);
}

Demonstration demonstrate_written(env::Env& env, const WrittenStep& step, std::uint64_t seed) {
  env::StepResult state = env.reset({env::Split::train, step.task, seed});
  std::vector<Message> transcript{{Role::user, state.observation.parts, {}, {}}};
  for (const std::string& turn : step.turns) {
    state = env.step({turn, {}});
    transcript.push_back(Message::of(Role::assistant, turn));
    transcript.push_back({Role::user, state.observation.parts, {}, {}});
  }
  const auto label = env.check_step(step.query);
  if (!label || label->correct != step.correct)
    throw Error("train-sft: task {} differs when played again; its step now has another verdict.", env.task().id);
  const auto or_step = [&](const std::string& text) { return text.empty() ? step.query.step : text; };
  const std::string critique = env::expert_critique(or_step(label->truth), or_step(label->claim), label->correct);
  return {{Message::of(Role::system, env::kCriticInstructions),
           {Role::user, env::critic_request(transcript, step.query.before, step.query.step), {}, {}},
           Message::of(Role::assistant, critique)},
          {true},
          {}};
}

}  // namespace agon::agents
