#include "env/kit/suite_task.h"

#include <fmt/format.h>

#include <utility>

#include "core/error.h"
#include "core/hash.h"

namespace agon::env {

std::string task_id(std::string_view suite, int level, const ResetOptions& options) {
  std::string id = fmt::format("{}/{}/{}/{}", suite, level, to_string(options.split), options.index);
  if (options.split == Split::train) id += fmt::format("@{}", options.seed);
  return id;
}

Rng task_stream(std::string_view suite, int level, const ResetOptions& options) {
  const bool fixed = options.split != Split::train;
  if (fixed && options.index >= kTestTasks)
    throw Error("{}: the {} split has {} tasks; there is no task {}. Give an index below {}.", suite,
                to_string(options.split), kTestTasks, options.index, kTestTasks);
  const std::string purpose = fmt::format("{}/{}/{}", suite, level, to_string(options.split));
  return Rng::derive(fixed ? 0 : options.seed, purpose, {}, options.index);
}

Split split_of(std::string_view content) {
  const std::uint64_t place = hash_text(content) % 16;
  return place == 0 ? Split::test : place == 1 ? Split::validation : Split::train;
}

std::string joined_steps(const std::vector<std::string>& steps) {
  std::string text;
  for (const std::string& step : steps) text += (text.empty() ? "" : "\n\n") + step;
  return text;
}

StepResult refused_step(const std::string& why) {
  StepResult result;
  result.observation.parts.push_back(Part::of(why));
  result.refused = why;
  return result;
}

void SingleTurnEnv::start(TaskInfo task) {
  task_ = std::move(task);
  state_ = State::open;
}

StepResult SingleTurnEnv::step(const Action& action) {
  if (state_ == State::idle) return refused_step("There is no task yet: reset first.");
  if (state_ == State::ended) return refused_step("The task has ended: reset to start another.");
  if (!action.tool_calls.empty()) return refused_step("There are no tools here: write the answer.");
  state_ = State::ended;
  StepResult result;
  result.reward.total = accuracy(action.text);
  result.reward.components = {{"accuracy", result.reward.total}};
  result.terminated = true;
  result.success = success(result.reward.total);
  result.grading = task_.grading;
  return result;
}

std::optional<StepLabel> SingleTurnEnv::check_step(const StepQuery& query) const {
  return state_ == State::idle ? std::nullopt : label(query);
}

std::optional<std::vector<Action>> SingleTurnEnv::demonstrate(Rng&) const {
  if (state_ == State::idle) return std::nullopt;
  const std::optional<std::string> turn = solution();
  if (!turn) return std::nullopt;
  return state_ == State::ended ? std::vector<Action>{} : std::vector<Action>{{*turn, {}}};
}

std::optional<Action> SingleTurnEnv::mistake(Rng& rng) const {
  if (state_ != State::open) return std::nullopt;
  const std::optional<std::string> turn = mistaken_solution(rng);
  return turn ? std::optional(Action{*turn, {}}) : std::nullopt;
}

std::optional<std::string> SingleTurnEnv::corrupt_step(const StepQuery& query, ErrorKind kind, Rng& rng) const {
  const std::optional<StepLabel> right = check_step(query);
  return right && right->correct ? corrupted(query, kind, rng) : std::nullopt;
}

}  // namespace agon::env
