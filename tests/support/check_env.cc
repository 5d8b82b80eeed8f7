#include "check_env.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>
#include <set>
#include <utility>

#include "core/error.h"
#include "env/protocol.h"

namespace agon::env {
namespace {

using Results = std::vector<StepResult>;

bool refused(const StepResult& result) { return result.refused.has_value(); }
bool ended(const StepResult& result) { return result.terminated || result.truncated; }

// The facts without the seconds of tool calls, in which two equal plays may differ.
Json facts_without_times(StepFacts facts) {
  for (ToolAttempt& call : facts.tool_calls) call.seconds = 0;
  return to_json(facts);
}

bool same(const StepResult& a, const StepResult& b) {
  const auto same_part = [](const Part& x, const Part& y) { return x.text == y.text && x.image == y.image; };
  return std::equal(a.observation.parts.begin(), a.observation.parts.end(), b.observation.parts.begin(),
                    b.observation.parts.end(), same_part) &&
         a.reward.total == b.reward.total && a.reward.components == b.reward.components &&
         a.terminated == b.terminated && a.truncated == b.truncated &&
         to_text(facts_without_times(a)) == to_text(facts_without_times(b));
}
bool same(const Results& a, const Results& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const StepResult& x, const StepResult& y) { return same(x, y); });
}
bool same(const TaskInfo& a, const TaskInfo& b) {
  return a.id == b.id && a.level == b.level && a.kind == b.kind && a.prompt == b.prompt && a.gold == b.gold;
}

// The text by which a message would give gold away: a tagged answer, or gold itself if it is a list or object.
std::string spoiler(const Json& gold) {
  return gold.is_structured() ? to_text(gold)
                              : wrap(Tag::answer, gold.is_string() ? gold.get<std::string>() : to_text(gold));
}

std::string shown(const std::string& text) { return text.size() <= 80 ? text : text.substr(0, 77) + "..."; }

// The text of an observation without the solution that it shows.
std::string without_first_solution(std::string text, const Json& info) {
  const std::string shown = info.value("first_solution", std::string());
  if (const auto at = text.find(shown); at != text.npos) text.erase(at, shown.size());
  return text;
}

class Checker {
 public:
  Checker(const EnvFactory& make, const SuiteInfo& info, std::uint64_t seed) : make_(make), info_(info), seed_(seed) {}

  std::vector<std::string> run(int tasks) {
    guarded("before the first reset", [&] { check_before_reset(); });
    if (!info_.has_train_split) guarded("train", [&] { require_no_task({Split::train, 0, seed_}); });
    guarded("test", [&] { require_no_task({Split::test, info_.test_tasks, seed_}); });
    const auto count = static_cast<std::uint64_t>(tasks), in_test = std::min(count, info_.test_tasks);
    for (std::uint64_t i = 0; i < count && info_.has_train_split; ++i) check_task({Split::train, i, seed_});
    for (std::uint64_t i = 0; i < in_test / 4 && info_.has_train_split; ++i) check_task({Split::validation, i, seed_});
    for (std::uint64_t i = 0; i < in_test; ++i) check_task({Split::test, i * (info_.test_tasks / in_test), seed_});
    return std::move(problems_);
  }

 private:
  void require(bool holds, const std::string& problem) {
    if (!holds) problems_.push_back(where_ + ": " + problem);
  }
  // Runs one check; an exception is a problem of its own.
  template <typename Check>
  void guarded(const std::string& where, Check check) {
    where_ = where;
    try {
      check();
    } catch (const std::exception& exception) {
      require(false, std::string("threw: ") + exception.what());
    }
  }

  void check_task(const ResetOptions& options) {
    const std::string name = std::string(to_string(options.split)) + " " + std::to_string(options.index);
    guarded(name + ", reset", [&] { check_reset(options); });
    guarded(name + ", demonstration", [&] { check_demonstration(options); });
    guarded(name + ", mistake", [&] { check_mistake(options); });
    guarded(name + ", any text", [&] { check_any_text(options); });
    guarded(name + ", refused action", [&] { check_refused(options); });
    guarded(name + ", failed reset", [&] { check_failed_reset(options); });
    guarded(name + ", fork", [&] { check_fork(options); });
  }

  std::unique_ptr<Env> started(const ResetOptions& options) const {
    auto env = make_();
    env->reset(options);
    return env;
  }
  // The expert's actions, always the same; without an expert, an answer.
  std::vector<Action> expert(const Env& env) const {
    Rng rng(seed_);
    return env.demonstrate(rng).value_or(std::vector<Action>{{wrap(Tag::answer, "1"), {}}});
  }
  Results play(Env& env, const std::vector<Action>& actions) {
    Results results;
    for (const Action& action : actions) {
      results.push_back(env.step(action));
      check_result(results.back(), env.task());
      require(refused(results.back()) || !results.back().reward.components.empty(),
              "a turn does not name the components of its reward");
    }
    return results;
  }

  void check_result(const StepResult& result, const TaskInfo& task) {
    double sum = 0;
    for (const auto& [name, value] : result.reward.components) sum += value;
    require(std::isfinite(result.reward.total), "the reward is not finite");
    require(std::abs(sum - result.reward.total) < 1e-9 || (result.reward.components.empty() && refused(result)) ||
                (result.reward.components.empty() && result.reward.total == 0),
            "the components of the reward do not add up to its total");
    if (refused(result)) {
      require(result.reward.total == 0, "a refused action has a reward");
      require(!result.terminated, "a refused action ends the task");
    }
    if (refused(result) || !ended(result)) require(!result.observation.parts.empty(), "the observation is empty");
    if (ended(result)) require(result.success.has_value(), "the end does not say whether it is a success");
    for (const Part& part : result.observation.parts) {
      require(part.is_image() || !part.text.empty(), "a part of the observation is empty");
      require(without_first_solution(part.text, result.info).find(spoiler(task.gold)) == part.text.npos,
              "the observation holds the gold answer");
      require_writable(part.text);
    }
    require_writable(to_json(result));
  }
  void require_writable(const Json& json) {
    try {
      static_cast<void>(json.dump());
    } catch (const Json::exception&) {
      require(false, "a text is not UTF-8");
    }
  }

  void check_before_reset() {
    const StepResult result = make_()->step({wrap(Tag::answer, "1"), {}});
    require(refused(result) && !ended(result) && result.reward.total == 0, "a step is not refused");
  }
  void require_no_task(const ResetOptions& options) {
    try {
      make_()->reset(options);
    } catch (const Error&) {
      return;
    }
    require(false, "reset to a task that is not there throws no Error");
  }

  void check_reset(const ResetOptions& options) {
    const auto env = make_(), twin = make_();
    const StepResult first = env->reset(options);
    check_result(first, env->task());
    require(!refused(first) && !ended(first) && first.reward.total == 0, "reset refuses, ends or rewards");
    require(same(first, twin->reset(options)) && same(env->task(), twin->task()), "two envs start it differently");
    play(*twin, expert(*twin));
    require(same(first, twin->reset(options)) && same(env->task(), twin->task()),
            "a second reset starts it differently");

    const TaskInfo& task = env->task();
    require(!task.id.empty() && ids_.insert(task.id).second, "the id '" + task.id + "' is empty or another task's");
    require(!task.kind.empty(), "the kind is empty");
    std::string content, marked;  // marked: with marks at the places of its pictures
    for (const Part& part : first.observation.parts) {
      content += part.is_image() ? part.image.hash().hex() : part.text;
      marked += part.is_image() ? "<image>" : part.text;
    }
    require(content.find(task.prompt) != content.npos || marked.find(task.prompt) != marked.npos,
            "the first observation does not state the prompt");
    for (const auto& [split, contents] : contents_)
      require(split == options.split || !contents.count(content),
              "the task is in the " + std::string(to_string(split)) + " split too");
    contents_[options.split].insert(content);
  }

  void check_demonstration(const ResetOptions& options) {
    const auto env = started(options);
    Rng rng(seed_);
    if (!env->demonstrate(rng)) return;
    const std::vector<Action> actions = expert(*env);
    require(!actions.empty() && actions.size() <= static_cast<std::size_t>(info_.max_turns), "not 1..max_turns turns");
    Results results;
    for (const Action& action : actions) {
      require(results.empty() || !ended(results.back()), "goes on after the end");
      check_steps(*env, action.text);
      results.push_back(env->step(action));
      check_result(results.back(), env->task());
      require(!refused(results.back()), "an action is refused: " + shown(action.text));
    }
    if (results.empty()) return;
    require(results.back().terminated, "does not end the task");
    require(results.back().success.value_or(false), "does not succeed");
    const auto twin = started(options);
    require(same(results, play(*twin, expert(*twin))), "a second env answers it differently");
  }

  void check_mistake(const ResetOptions& options) {
    const auto env = started(options);
    Rng rng(seed_), again(seed_);
    const std::optional<Action> mistake = env->mistake(rng);
    if (!mistake) return;
    require(env->mistake(again).value_or(Action{}).text == mistake->text, "is another for the same stream");
    const StepResult result = env->step(*mistake);
    require(!refused(result) && !result.success.value_or(false), "is refused or right: " + shown(mistake->text));
  }

  // Checks the labels that the suite gives to an expert's steps and to corrupted ones.
  void check_steps(const Env& env, const std::string& turn) {
    for (const Segment& segment : segment_turn(turn)) {
      if (segment.kind != SegmentKind::step) continue;
      const std::vector<Span> steps = split_steps(segment.span.of(turn));
      const StepQuery query{turn.substr(0, segment.span.begin), std::string(steps.at(0).of(segment.span.of(turn)))};
      const auto label = env.check_step(query);
      require(!label || label->correct, "labels the expert's step wrong: " + shown(query.step));
      for (int kind = 0; kind <= static_cast<int>(ErrorKind::unjustified_jump); ++kind) {
        Rng rng(seed_);
        const auto wrong = env.corrupt_step(query, static_cast<ErrorKind>(kind), rng);
        if (!wrong) continue;
        const auto verdict = env.check_step({query.before, *wrong});
        require(*wrong != query.step && !(verdict && verdict->correct),
                "a step corrupted by " + std::string(to_string(static_cast<ErrorKind>(kind))) +
                    " counts as right: " + shown(*wrong));
      }
    }
  }

  // Texts that a policy may write.
  std::vector<Action> any_texts() const {
    Rng rng(seed_);
    std::string noise;
    for (int i = 0; i < 64; ++i) noise += static_cast<char>(rng.between(0, 255));
    std::vector<Action> actions = {{noise, {}},
                                   {"", {}},
                                   {" \n\n ", {}},
                                   {"<answer>", {}},
                                   {"</answer><score>2</score>", {}},
                                   {std::string(100'000, 'x'), {}},
                                   {"TYPE [\xff]", {}},
                                   {"CLICK <point>[[1e9,-1e9]]</point>", {}},
                                   {"<answer>[1e9,1e9,-1e9,-1e9]</answer>", {}},
                                   {"<answer>" + noise + "</answer>", {}}};
    rng.shuffle(actions);
    return actions;
  }

  void check_any_text(const ResetOptions& options) {
    const auto env = started(options), twin = started(options);
    std::vector<Action> actions = any_texts();
    while (actions.size() < static_cast<std::size_t>(info_.max_turns))
      actions.push_back({"CLICK <point>[[500,500]]</point>", {}});
    actions.push_back({wrap(Tag::answer, "1"), {}});
    Results results = play(*env, actions);
    require(same(results, play(*twin, actions)), "a second env answers differently");
    const std::ptrdiff_t accepted =
        std::count_if(results.begin(), results.end(), [](const auto& r) { return !refused(r); });
    require(accepted <= info_.max_turns, "more than max_turns turns are taken");
    const auto end = std::find_if(results.begin(), results.end(), ended);
    require(accepted < info_.max_turns || end != results.end(), "max_turns turns do not end the task");
    if (end == results.end()) return;
    require(std::all_of(end + 1, results.end(), refused), "a step after the end is not refused");
    require(std::none_of(end + 1, results.end(), ended), "a step after the end ends again");
  }

  // Checks that refused actions change nothing: the env continues like one that never saw them.
  void check_refused(const ResetOptions& options) {
    const auto env = started(options), fresh = started(options);
    Action with_tool{"", {{"1", "no_such_tool", Json::object()}}};
    std::vector<Action> actions = any_texts();
    actions.push_back(std::move(with_tool));
    for (const Action& action : actions) {
      const auto probe = env->fork();
      const StepResult result = probe->step(action);
      check_result(result, probe->task());
      if (!refused(result)) continue;
      require(same(play(*probe, expert(*probe)), play(*fresh->fork(), expert(*fresh))),
              "a refused action changes what follows: " + shown(action.text));
    }
  }

  void check_failed_reset(const ResetOptions& options) {
    const auto env = started(options), fresh = started(options);
    try {
      env->reset({Split::test, info_.test_tasks, seed_});
    } catch (const Error&) {
      require(same(env->task(), fresh->task()), "changes the task");
      require(same(play(*env, expert(*env)), play(*fresh, expert(*fresh))), "changes what follows");
    }
  }

  void check_fork(const ResetOptions& options) {
    const auto env = started(options), fresh = started(options);
    const std::vector<Action> actions = expert(*env);
    for (std::size_t taken = 0; taken < actions.size(); ++taken) {
      const auto fork = env->fork();
      const std::vector<Action> rest(actions.begin() + static_cast<std::ptrdiff_t>(taken), actions.end());
      require(same(fork->task(), env->task()), "has another task");
      const Results future = play(*fork, rest);
      require(same(future, play(*env->fork(), rest)), "two forks have two futures");
      require(same(env->step(actions[taken]), fresh->step(actions[taken])), "what it does is seen by the original");
      if (!future.empty()) fork->reset(options);
    }
    require(same(env->task(), fresh->task()), "a reset of it is seen by the original");
  }

  const EnvFactory& make_;
  const SuiteInfo& info_;
  std::uint64_t seed_;
  std::string where_;
  std::vector<std::string> problems_;
  std::set<std::string> ids_;                        // of all tasks
  std::map<Split, std::set<std::string>> contents_;  // of their first observations
};

}  // namespace

std::vector<std::string> check_env(const EnvFactory& make, const SuiteInfo& info, int tasks, std::uint64_t seed) {
  return Checker(make, info, seed).run(tasks);
}

std::vector<std::string> check_env(const Suite& suite, int tasks, std::uint64_t seed) {
  return check_env([&] { return suite.make_env(); }, suite.info(), tasks, seed);
}

}  // namespace agon::env
