#include "critic/labelled_steps.h"

#include <algorithm>

#include "core/error.h"
#include "core/rng.h"
#include "env/protocol.h"
#include "env/wrappers/labelled_steps.h"

namespace agon::critic {
namespace {

// A task in progress: its transcript and the number of steps so far.
struct Walk {
  std::vector<Message> messages;
  int position = 0;
};

LabelledStep labelled(const Walk& walk, const std::shared_ptr<const env::Env>& env, std::uint64_t task,
                      const env::LabelledTurnStep& of_turn, std::string source) {
  LabelledStep step;
  step.context = {walk.messages, of_turn.query.before, of_turn.query.step, env.get()};
  step.truth.problem = task;
  step.truth.position = walk.position + of_turn.position;
  step.truth.level = env->task().level;
  step.truth.kind = env::to_string(of_turn.label.kind);
  step.truth.source = std::move(source);
  step.truth.correct = of_turn.label.correct;
  step.reason = of_turn.label.reason;
  step.env = env;
  return step;
}

void observe(Walk& walk, const env::Observation& observation) {
  walk.messages.push_back({Role::user, observation.parts, {}, {}});
}

class ExpertWalk {
 public:
  ExpertWalk(const LabelledTasks& tasks, std::vector<LabelledStep>& steps)
      : tasks_(tasks), instructions_(tasks.suite.info().instructions), steps_(steps) {}

  void walk(env::Env& env, std::uint64_t task) {
    Walk walk;
    if (!instructions_.empty()) walk.messages.push_back(Message::of(Role::system, instructions_));
    const env::StepResult first = env.reset({tasks_.split, task, tasks_.seed});
    Rng rng = Rng::derive(tasks_.seed, "labelled steps", env.task().id);
    const std::vector<env::SolutionTurn> turns = env::expert_turns(env, first, rng);
    if (turns.empty())
      throw Error("labelled steps: suite {} has no expert. Give a run of a policy instead.", tasks_.suite.name());
    const std::vector<Message> instructions = walk.messages;
    for (const env::SolutionTurn& turn : turns) {
      walk.messages = instructions;
      walk.messages.insert(walk.messages.end(), turn.transcript.begin(), turn.transcript.end());
      add_turn(turn.env, task, turn.text, walk, rng);
    }
  }

 private:
  void add_turn(const std::shared_ptr<const env::Env>& here, std::uint64_t task, const std::string& turn, Walk& walk,
                Rng& rng) {
    for (const env::LabelledTurnStep& of_turn : env::labelled_steps(*here, turn)) {
      if (!of_turn.label.correct) continue;
      steps_.push_back(labelled(walk, here, task, of_turn, "expert"));
      for (const env::ErrorKind kind : env::kErrorKinds) {
        const auto wrong = here->corrupt_step(of_turn.query, kind, rng);
        if (!wrong) continue;
        const env::StepQuery changed{of_turn.query.before, *wrong};
        const auto label = here->check_step(changed);
        if (label && !label->correct)
          steps_.push_back(
              labelled(walk, here, task, {changed, of_turn.position, *label}, std::string(env::to_string(kind))));
      }
    }
    walk.position += static_cast<int>(env::split_steps(turn).size());
  }

  const LabelledTasks& tasks_;
  const std::string instructions_;
  std::vector<LabelledStep>& steps_;
};

void require_some(const std::vector<LabelledStep>& steps, const LabelledTasks& tasks) {
  if (steps.empty())
    throw Error("labelled steps: suite {} labels no step here. Try suite charts or shapes.", tasks.suite.name());
}

}  // namespace

std::vector<LabelledStep> expert_steps(const LabelledTasks& tasks, const std::function<bool()>& done_one) {
  std::vector<LabelledStep> steps;
  ExpertWalk expert(tasks, steps);
  const auto env = tasks.suite.make_env();
  for (std::uint64_t task = 0; task < tasks.tasks; ++task) {
    expert.walk(*env, tasks.first_task + task);
    if (done_one && !done_one()) return steps;
  }
  require_some(steps, tasks);
  return steps;
}

std::vector<LabelledStep> episode_steps(const LabelledTasks& tasks, const std::vector<record::Episode>& episodes) {
  std::vector<LabelledStep> steps;
  const std::string& instructions = tasks.suite.info().instructions;
  const auto env = tasks.suite.make_env();
  for (const record::Episode& episode : episodes) {
    if (episode.status != record::EpisodeStatus::done) continue;
    Walk walk;
    if (!instructions.empty()) walk.messages.push_back(Message::of(Role::system, instructions));
    env->reset({tasks.split, episode.task_index, tasks.seed});
    for (const record::Turn& turn : episode.turns) {
      observe(walk, turn.observation);
      const std::shared_ptr<const env::Env> here = env->fork();
      for (const env::LabelledTurnStep& of_turn : env::labelled_steps(*here, turn.text)) {
        steps.push_back(labelled(walk, here, episode.task_index, of_turn, "policy"));
        steps.back().truth.solution = static_cast<std::size_t>(episode.sample + 1);  // the greedy one is -1
      }
      walk.position += static_cast<int>(env::split_steps(turn.text).size());
      walk.messages.push_back(Message::of(Role::assistant, turn.text));
      env->step({turn.text, {}});
    }
  }
  require_some(steps, tasks);
  return steps;
}

std::vector<JudgedStep> judge_all(StepCritic& critic, const std::vector<LabelledStep>& steps, std::size_t batch,
                                  const std::function<bool(std::size_t)>& done) {
  std::vector<JudgedStep> judged;
  for (std::size_t begin = 0; begin < steps.size(); begin += batch) {
    const std::size_t count = std::min(batch, steps.size() - begin);
    std::vector<StepInContext> contexts;
    for (std::size_t i = 0; i < count; ++i) contexts.push_back(steps[begin + i].context);
    const std::vector<Verdict> verdicts = critic.judge(contexts);
    for (std::size_t i = 0; i < count; ++i) {
      JudgedStep step = steps[begin + i].truth;
      step.judgement = verdicts.at(i).judgement;
      step.probability = verdicts.at(i).probability;
      step.fault = verdicts.at(i).fault;
      judged.push_back(std::move(step));
    }
    if (done && !done(count)) break;
  }
  return judged;
}

}  // namespace agon::critic
