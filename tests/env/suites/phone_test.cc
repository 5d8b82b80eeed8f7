#include <catch2/catch.hpp>

#include <map>
#include <memory>
#include <set>
#include <sstream>

#include "core/error.h"
#include "effort.h"
#include "env/protocol.h"
#include "env/suite.h"
#include "golden/text.h"

using namespace agon;
using namespace agon::env;

namespace {

std::unique_ptr<Env> phone_at(int level) { return make_env("phone", {.level = level, .file = {}}); }

std::string written(const std::string& action) { return wrap(Tag::answer, action); }

const Image& picture(const StepResult& result) { return result.observation.parts.back().image; }

Json without_objects(Json info) {
  info.erase("objects");
  return info;
}

// Plays the expert to the end; every step must be right, the last one rewarded.
void check_success(Env& env, std::uint64_t seed) {
  Rng rng(seed);
  const auto actions = env.demonstrate(rng);
  REQUIRE(actions);
  for (std::size_t i = 0; i < actions->size(); ++i) {
    const bool last = i + 1 == actions->size();
    const auto label = env.check_step({"", (*actions)[i].text});
    REQUIRE(label);
    INFO(env.task().id << " " << env.task().prompt << " step " << i << ": " << (*actions)[i].text << " "
                       << label->reason);
    CHECK(label->correct);
    const StepResult result = env.step((*actions)[i]);
    CHECK(result.step_correct == true);
    CHECK(result.terminated == last);
    CHECK_FALSE(result.truncated);
    CHECK(result.reward.total == (last ? 1.0 : 0.0));
    CHECK(result.success.has_value() == last);
  }
}

TEST_CASE("phone: the expert succeeds with right steps only, on every level and split") {
  for (int level : {1, 2, 3})
    for (Split split : {Split::test, Split::train}) {
      auto env = phone_at(level);
      for (std::uint64_t index = 0; index < test::rounds(150); ++index) {
        env->reset({split, index, 7});
        check_success(*env, index);
      }
    }
}

TEST_CASE("phone: every kind of task occurs, and the gold way is as long as its level says") {
  const std::map<int, std::set<std::string>> kinds{
      {1, {"open_app", "set_switch", "delete_contact", "enter_code"}},
      {2, {"open_app", "set_switch", "delete_contact", "enter_code"}},
      {3, {"open_app", "set_switch", "delete_contact", "enter_code", "two_part", "impossible"}}};
  for (int level : {1, 2, 3}) {
    auto env = phone_at(level);
    std::set<std::string> seen;
    for (std::uint64_t index = 0; index < 300; ++index) {
      env->reset({Split::train, index, 3});
      seen.insert(env->task().kind);
      const std::size_t length = env->task().gold.size();
      if (level == 1) CHECK(length == 2);
      CHECK(length <= (level == 2 ? 5U : 9U));
    }
    CHECK(seen == kinds.at(level));
  }
}

// A random action that a policy could take here, good or bad.
std::string any_action(const StepResult& shown, Rng& rng) {
  const int draw = rng.between(0, 9);
  const std::string point = "<point>[[" + std::to_string(rng.between(-50, 1050)) + "," +
                            std::to_string(rng.between(-50, 1050)) + "]]</point>";
  const Json& objects = shown.info["objects"];
  if (draw < 5 && !objects.empty()) {
    const Json& box = objects[static_cast<std::size_t>(rng.between(0, static_cast<int>(objects.size()) - 1))]["box"];
    const auto middle = [&](int a, int b, int side) { return (box[a].get<int>() + box[b].get<int>()) * 500 / side; };
    return "CLICK <point>[[" + std::to_string(middle(0, 2, 112)) + "," + std::to_string(middle(1, 3, 168)) +
           "]]</point>";
  }
  const std::vector<std::string> others{
      "CLICK " + point, "LONG_PRESS " + point, "SCROLL [DOWN]",    "SCROLL [UP]", "SCROLL [LEFT]", "TYPE [4]",
      "TYPE [abc]",     "OPEN_APP [contacts]", "OPEN_APP [chess]", "PRESS_BACK",  "PRESS_HOME",    "WAIT",
      "nonsense",       "OPEN_APP [settings]", "OPEN_APP [keypad]"};
  return rng.pick(others);
}

TEST_CASE("phone: from any state that a random walk reaches, the expert still succeeds unless the goal is gone") {
  Rng rng(11);
  int won = 0;
  for (int level : {1, 2, 3}) {
    auto env = phone_at(level);
    for (std::uint64_t index = 0; index < 200; ++index) {
      StepResult shown = env->reset({Split::train, index, 5});
      for (int i = rng.between(1, 4); i > 0; --i) shown = env->step({any_action(shown, rng), {}});
      auto copy = env->fork();
      const auto way = copy->demonstrate(rng);
      if (!way) continue;
      ++won;
      bool right = true;
      StepResult result;
      for (const Action& action : *way) {
        result = copy->step(action);
        right = right && (result.truncated || result.step_correct == true);
        if (result.terminated || result.truncated) break;
      }
      CHECK(right);
      CHECK((result.truncated || result.reward.total == 1));
    }
  }
  CHECK(won > 500);
}

TEST_CASE("phone: corrupted steps are wrong, of every kind that fits") {
  std::map<ErrorKind, int> made;
  Rng rng(2);
  for (int level : {1, 2, 3}) {
    auto env = phone_at(level);
    for (std::uint64_t index = 0; index < 100; ++index) {
      env->reset({Split::train, index, 1});
      const auto way = env->demonstrate(rng);
      REQUIRE(way);
      for (const Action& action : *way) {
        for (ErrorKind kind : {ErrorKind::calculation, ErrorKind::misread_value, ErrorKind::wrong_object,
                               ErrorKind::wrong_condition, ErrorKind::unjustified_jump}) {
          const auto wrong = env->corrupt_step({"", action.text}, kind, rng);
          if (!wrong) continue;
          ++made[kind];
          CHECK_FALSE(env->check_step({"", *wrong})->correct);
          CHECK(extract_answer(*wrong));
        }
        env->step(action);
      }
    }
  }
  CHECK(made[ErrorKind::calculation] == 0);
  CHECK(made[ErrorKind::misread_value] > 50);
  CHECK(made[ErrorKind::wrong_object] > 300);
  CHECK(made[ErrorKind::wrong_condition] > 100);
  CHECK(made[ErrorKind::unjustified_jump] > 300);
}

TEST_CASE("phone: labels tell perception from reasoning and refuse what is no action") {
  auto env = phone_at(1);
  env->reset({Split::test, 0});
  CHECK(env->check_step({"", written("CLICK <point>[[500,500]]</point>")})->kind == StepKind::perception);
  CHECK(env->check_step({"", "COMPLETE"})->kind == StepKind::reasoning);
  CHECK_FALSE(env->check_step({"", "COMPLETE"})->correct);
  CHECK_FALSE(env->check_step({"", "the icon is at the top"})->correct);
}

TEST_CASE("phone: refused actions change nothing, say why, and cost a turn") {
  auto env = phone_at(2);
  const StepResult first = env->reset({Split::test, 3});
  const int limit = Suite("phone").info().max_turns;
  const std::vector<std::string> bad{"",
                                     "CLICK",
                                     "CLICK <point>[[5000,10]]</point>",
                                     "CLICK <point>[[-1,10]]</point>",
                                     "OPEN_APP [chess]",
                                     "TYPE [x]",
                                     "\xff\xfe",
                                     std::string(100000, '<')};
  for (int turn = 0; turn < limit; ++turn) {
    const StepResult result = env->step({bad[static_cast<std::size_t>(turn) % bad.size()], {}});
    CHECK(result.refused.has_value());
    CHECK(result.step_correct == false);
    CHECK_FALSE(result.observation.parts.front().text.empty());
    CHECK(picture(result) == picture(first));
    CHECK(result.reward.total == 0);
    CHECK_FALSE(result.terminated);
    CHECK(result.truncated == (turn + 1 == limit));
  }
  CHECK(env->step({"COMPLETE", {}}).refused.has_value());
  CHECK_FALSE(env->check_step({"", "COMPLETE"}));
}

TEST_CASE("phone: an action without effect shows the same screen and is not an error") {
  auto env = phone_at(2);
  const StepResult first = env->reset({Split::test, 3});
  for (const char* action : {"WAIT", "SCROLL [LEFT]", "LONG_PRESS <point>[[500,500]]</point>"}) {
    const StepResult result = env->step({written(action), {}});
    CHECK_FALSE(result.refused.has_value());
    CHECK(result.step_correct == false);
    CHECK(picture(result) == picture(first));
  }
}

TEST_CASE("phone: COMPLETE before the goal ends the episode without a reward") {
  auto env = phone_at(1);
  env->reset({Split::test, 1});
  const StepResult result = env->step({written("COMPLETE") + "\n<score>0.9</score>", {}});
  CHECK(result.terminated);
  CHECK(result.success == false);
  CHECK(result.reward.total == 0);
  CHECK(result.reward.components == std::vector<std::pair<std::string, double>>{{"accuracy", 0.0}});
}

TEST_CASE("phone: before reset and past the test split") {
  auto env = phone_at(2);
  CHECK(env->step({"WAIT", {}}).refused.has_value());
  CHECK_THROWS_AS(env->reset({Split::test, 1000}), Error);
}

TEST_CASE("phone: same options, same bytes, the test split does not know the seed") {
  auto a = phone_at(3), b = phone_at(3);
  for (std::uint64_t index = 0; index < 20; ++index) {
    const StepResult left = a->reset({Split::test, index, 1}), right = b->reset({Split::test, index, 2});
    CHECK(picture(left) == picture(right));
    CHECK(a->task().prompt == b->task().prompt);
    CHECK(a->task().gold == b->task().gold);
    CHECK(to_json(left) == to_json(right));
  }
  a->reset({Split::train, 0, 1});
  b->reset({Split::train, 0, 2});
  CHECK(a->task().id != b->task().id);
}

TEST_CASE("phone: no goal over the same first screen is in both splits") {
  for (int level : {1, 2, 3}) {
    auto env = phone_at(level);
    std::set<std::string> test;
    const auto first_sight = [&](const ResetOptions& options) {
      const StepResult result = env->reset(options);
      return env->task().prompt + picture(result).hash().hex();
    };
    for (std::uint64_t index = 0; index < test::rounds(1000); ++index) test.insert(first_sight({Split::test, index}));
    for (std::uint64_t index = 0; index < test::rounds(3000); ++index)
      CHECK(test.count(first_sight({Split::train, index, 9})) == 0);
    CHECK(test.size() > test::rounds(500));
  }
}

TEST_CASE("phone: forks do not see each other") {
  auto env = phone_at(2);
  env->reset({Split::test, 5});
  auto copy = env->fork();
  copy->step({written("OPEN_APP [notes]"), {}});
  copy->step({written("IMPOSSIBLE"), {}});
  check_success(*env, 1);
  auto late = env->fork();
  late->reset({Split::test, 6});
  CHECK(late->task().id != env->task().id);
}

TEST_CASE("phone: objects are declared classes in boxes inside the picture, none over another") {
  const SuiteInfo info = Suite("phone").info();
  const std::set<std::string> classes(info.object_classes.begin(), info.object_classes.end());
  CHECK(classes.size() == info.object_classes.size());
  CHECK(classes.size() <= 64);
  Rng rng(4);
  auto env = phone_at(3);
  for (std::uint64_t index = 0; index < 60; ++index) {
    StepResult shown = env->reset({Split::train, index, 8});
    for (int turn = 0; turn < 8; ++turn) {
      std::set<std::pair<int, int>> corners;
      for (const Json& object : shown.info["objects"]) {
        const Json& box = object["box"];
        CHECK(classes.count(object["name"].get<std::string>()) == 1);
        CHECK((box[0] >= 0 && box[1] >= 0 && box[2] <= 112 && box[3] <= 168 && box[0] < box[2] && box[1] < box[3]));
        CHECK(corners.insert({box[0].get<int>(), box[1].get<int>()}).second);
      }
      shown = env->step({any_action(shown, rng), {}});
    }
  }
}

// The first tasks of each level: the goal, the gold way and the pictures along it.
std::string golden_text() {
  std::ostringstream text;
  for (int level : {1, 2, 3}) {
    auto env = phone_at(level);
    for (std::uint64_t index = 0; index < 8; ++index) {
      const StepResult first = env->reset({Split::test, index});
      text << env->task().id << " " << env->task().kind << ": " << env->task().prompt << "\n  "
           << picture(first).hash().hex() << "\n";
      const Json gold = env->task().gold;
      for (const Json& action : gold) {
        const StepResult next = env->step({action.get<std::string>(), {}});
        text << "  " << action.get<std::string>() << " " << picture(next).hash().hex() << " "
             << without_objects(to_json(next)).dump() << "\n";
      }
    }
  }
  return text.str();
}

TEST_CASE("phone: the first tasks stay as they are") { test::check_golden_text("suites/phone.txt", golden_text()); }

}  // namespace
