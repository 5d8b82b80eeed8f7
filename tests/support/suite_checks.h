// tests/support/suite_checks.h - the checks that the tests of the procedural suites share.
#pragma once

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "env/protocol.h"
#include "env/suite.h"

namespace agon::test {

inline const std::vector<env::ErrorKind> kErrorKinds{env::ErrorKind::calculation, env::ErrorKind::misread_value,
                                                     env::ErrorKind::wrong_object, env::ErrorKind::wrong_condition,
                                                     env::ErrorKind::unjustified_jump};

// The steps of a turn, each with the text before it.
inline std::vector<env::StepQuery> queries_of(const std::string& turn) {
  std::vector<env::StepQuery> queries;
  for (const env::Span& span : env::split_steps(turn))
    queries.push_back({turn.substr(0, span.begin), std::string(span.of(turn))});
  return queries;
}

inline std::vector<env::Action> expert(const env::Env& env) {
  Rng rng(0);
  return env.demonstrate(rng).value();
}
inline std::string demonstration(const env::Env& env) { return expert(env).at(0).text; }

inline std::string text_of(const env::StepResult& result) {
  std::string text;
  for (const Part& part : result.observation.parts) text += part.text;
  return text;
}

// Checks that the expert takes only right steps and right turns in the current task, and earns 1 with the last turn.
inline void check_expert_episode(env::Env& env) {
  const std::vector<env::Action> actions = expert(env);
  for (std::size_t i = 0; i < actions.size(); ++i) {
    INFO(env.task().id << " " << env.task().kind << " " << env.task().prompt << "\n" << actions[i].text);
    for (const env::StepQuery& query : queries_of(actions[i].text)) {
      const auto label = env.check_step(query);
      REQUIRE(label);
      CHECK(label->correct);
    }
    const env::StepResult result = env.step(actions[i]);
    INFO(text_of(result));
    CHECK(result.step_correct == true);
    CHECK(result.terminated == (i + 1 == actions.size()));
    CHECK(result.reward.total == (result.terminated ? 1 : 0));
  }
}

// Checks that corrupt_step turns the experts' steps of `tasks` train tasks into wrong ones; counts these in `made`.
inline void check_corruptions(env::Env& env, std::uint64_t tasks, std::map<env::ErrorKind, int>& made) {
  Rng rng(5);
  for (std::uint64_t index = 0; index < tasks; ++index) {
    env.reset({env::Split::train, index, 3});
    for (const env::Action& action : expert(env)) {
      for (const env::StepQuery& query : queries_of(action.text))
        for (const env::ErrorKind kind : kErrorKinds) {
          const auto wrong = env.corrupt_step(query, kind, rng);
          if (!wrong) continue;
          ++made[kind];
          INFO(query.step << "\n-> " << *wrong);
          const auto label = env.check_step({query.before, *wrong});
          CHECK((label && !label->correct));
        }
      env.step(action);
    }
  }
}

// One line per fact of a task; its picture as a hash.
inline std::string describe_task(env::Env& env, const env::ResetOptions& options) {
  const env::StepResult first = env.reset(options);
  std::string picture;
  for (const Part& part : first.observation.parts)
    if (part.is_image()) picture = part.image.hash().hex();
  return fmt::format("# {} {}\n{}\ngold {}\npicture {}\nobjects {}\n{}\n\n", env.task().id, env.task().kind,
                     env.task().prompt, env.task().gold.dump(), picture,
                     first.info.is_object() ? first.info.value("objects", Json()).dump() : "null", demonstration(env));
}

// Twenty tasks over all levels and both splits.
inline std::string describe_tasks(const std::string& suite) {
  std::string text;
  for (int level = 1; level <= 3; ++level) {
    const auto env = env::make_env(suite, {level, ""});
    for (std::uint64_t i = 0; i < 5; ++i) text += describe_task(*env, {env::Split::test, i, 0});
    for (std::uint64_t i = 0; i < 2; ++i) text += describe_task(*env, {env::Split::train, i, 7});
  }
  return text;
}

// Checks that demonstrations are right in every step and earn more than `least`, that corrupt_step makes steps wrong,
// and that `kinds` kinds of error occur often.
inline void check_demonstrations_and_corruptions(const std::string& suite, int tasks, double least, std::size_t kinds) {
  std::map<env::ErrorKind, int> corrupted;
  Rng rng(3);
  for (int level = 1; level <= 3; ++level)
    for (const env::Split split : {env::Split::train, env::Split::test}) {
      const auto env = env::make_env(suite, {level, ""});
      for (int i = 0; i < tasks; ++i) {
        env->reset({split, static_cast<std::uint64_t>(i), 5});
        const std::string turn = demonstration(*env);
        INFO(env->task().id << ": " << env->task().prompt << "\n" << turn);
        for (const env::StepQuery& query : queries_of(turn)) {
          INFO(query.step);
          const auto label = env->check_step(query);
          REQUIRE((label && label->correct));
          for (const env::ErrorKind kind : kErrorKinds) {
            const auto wrong = env->corrupt_step(query, kind, rng);
            if (!wrong) continue;
            INFO(to_string(kind) << ": " << *wrong);
            ++corrupted[kind];
            const auto verdict = env->check_step({query.before, *wrong});
            REQUIRE((verdict && !verdict->correct));
            REQUIRE_FALSE(verdict->reason.empty());
          }
        }
        const env::StepResult last = env->step({turn, {}});
        REQUIRE(last.terminated);
        REQUIRE(last.reward.total > least);
        REQUIRE(last.reward.components.size() == 1);
        REQUIRE(last.reward.components[0] == std::pair<std::string, double>{"accuracy", last.reward.total});
      }
    }
  for (const auto& [kind, count] : corrupted) CHECK(count > tasks / 10);
  CHECK(corrupted.size() == kinds);
}

// Checks that tasks are the same from one thread and from eight, and that the seed changes train tasks but not test
// tasks.
inline void check_determinism(const std::string& suite) {
  constexpr std::uint64_t kTasks = 64;
  const auto describe = [&](std::uint64_t begin, std::uint64_t stride, std::vector<std::string>& texts) {
    const auto env = env::make_env(suite, {});
    for (std::uint64_t i = begin; i < kTasks; i += stride)
      texts[i] = describe_task(*env, {i % 2 ? env::Split::test : env::Split::train, i, 11});
  };
  std::vector<std::string> alone(kTasks), together(kTasks);
  describe(0, 1, alone);
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t t = 0; t < 8; ++t) threads.emplace_back([&, t] { describe(t, 8, together); });
  }
  CHECK(alone == together);
  const auto env = env::make_env(suite, {});
  CHECK(describe_task(*env, {env::Split::test, 3, 1}) == describe_task(*env, {env::Split::test, 3, 2}));
  CHECK(describe_task(*env, {env::Split::train, 3, 1}) != describe_task(*env, {env::Split::train, 3, 2}));
  const auto shown = [&](std::uint64_t index) {
    const env::StepResult first = env->reset({env::Split::train, index, 1});
    return std::pair(first.observation.parts[0].image, text_of(first));
  };
  CHECK(shown(3) != shown(4));
}

// Checks that no text of a policy throws, earns a reward by accident, or is refused without a reason.
inline void check_bad_turns(const std::string& suite) {
  const auto env = env::make_env(suite, {});
  CHECK(env->step({"<answer>1</answer>", {}}).refused.has_value());  // no task yet
  Rng rng(0);
  CHECK_FALSE(env->check_step({"", "red is 4"}));
  CHECK_FALSE(env->demonstrate(rng));
  CHECK_FALSE(env->corrupt_step({"", "red is 4"}, env::ErrorKind::misread_value, rng));
  for (const std::string& text :
       {std::string(), std::string("no tag"), std::string("<answer></answer>"), std::string("<answer>"),
        std::string("<answer>[nan,inf,-1e999,1]</answer>"), std::string("\xff\xfe<answer>\xff</answer>"),
        std::string(200'000, '9'), "<answer>" + std::string(200'000, '9') + "</answer>"}) {
    env->reset({env::Split::test, 0, 0});
    env->check_step({text, text});
    const env::StepResult result = env->step({text, {}});
    CHECK(result.terminated);
    CHECK(result.reward.total == 0);
  }
  CHECK(env->step({"<answer>1</answer>", {}}).refused.has_value());  // the task has ended
  env->reset({env::Split::test, 0, 0});
  const auto fork = env->fork();
  const env::StepResult refused = env->step({"", {ToolCall{"1", "search", {}}}});
  CHECK(refused.refused.has_value());
  CHECK_FALSE(refused.terminated);
  CHECK(env->step({demonstration(*env), {}}).terminated);
  CHECK(fork->step({demonstration(*fork), {}}).reward.total > 0.5);  // the fork has not ended
  CHECK_THROWS_WITH(env->reset({env::Split::test, 1000, 0}), Catch::Contains("1000 tasks"));
}

}  // namespace agon::test
