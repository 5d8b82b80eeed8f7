#include "env/wrappers/env_wrapper.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>

#include "core/error.h"
#include "env/suite.h"
#include "env/wrappers/held_out.h"
#include "env/wrappers/role.h"
#include "env/wrappers/two_turn.h"
#include "toy_env.h"

using namespace agon;
using namespace agon::env;

namespace {

// Records which of its functions were called.
class Spy : public ToyEnv {
 public:
  explicit Spy(std::shared_ptr<std::vector<std::string>> calls) : calls_(std::move(calls)) {}
  void prepare() override { calls_->push_back("prepare"); }
  StepResult reset(const ResetOptions& options) override { return add("reset", ToyEnv::reset(options)); }
  StepResult step(const Action& action) override { return add("step", ToyEnv::step(action)); }
  std::unique_ptr<Env> fork() const override { return add("fork", std::make_unique<Spy>(*this)); }
  const TaskInfo& task() const override {
    calls_->push_back("task");
    return ToyEnv::task();
  }
  std::optional<StepLabel> check_step(const StepQuery&) const override {
    return add("check_step", StepLabel{true, StepKind::perception, "as seen", "truth", "claim"});
  }
  std::optional<std::vector<Action>> demonstrate(Rng&) const override {
    return add("demonstrate", std::vector<Action>{{"shown", {}}});
  }
  std::optional<Action> mistake(Rng&) const override { return add("mistake", Action{"wrong", {}}); }
  std::optional<std::string> corrupt_step(const StepQuery&, ErrorKind, Rng&) const override {
    return add("corrupt_step", std::string("corrupt"));
  }

 private:
  template <typename Value>
  Value add(const char* call, Value value) const {
    calls_->push_back(call);
    return value;
  }
  std::shared_ptr<std::vector<std::string>> calls_;
};

struct Plain : EnvWrapper {
  explicit Plain(std::unique_ptr<Env> inner) : EnvWrapper(std::move(inner)) {}
  std::unique_ptr<Env> fork() const override { return std::make_unique<Plain>(*this); }
};

struct Wrapper {
  std::string name;
  std::function<std::unique_ptr<Env>(std::unique_ptr<Env>)> wrap;
};

// Every wrapper that agon has.
std::vector<Wrapper> wrappers() {
  std::vector<Wrapper> all{
      {"plain", [](auto inner) { return std::make_unique<Plain>(std::move(inner)); }},
      {"held out", [](auto inner) { return held_out_env(std::move(inner), ErrorKind::calculation); }},
      {"two turns", [](auto inner) { return two_turn_env(std::move(inner)); }},
      {"two turns of held out",
       [](auto inner) { return two_turn_env(held_out_env(std::move(inner), ErrorKind::calculation)); }}};
  for (const std::string& role : role_names())
    all.push_back({role, [role](auto inner) { return role_env(std::move(inner), role, {}); }});
  return all;
}

}  // namespace

TEST_CASE("prepare reaches the inner env through every wrapper, and through its fork") {
  for (const Wrapper& wrapper : wrappers()) {
    CAPTURE(wrapper.name);
    const auto calls = std::make_shared<std::vector<std::string>>();
    const auto env = wrapper.wrap(std::make_unique<Spy>(calls));
    env->prepare();
    CHECK(*calls == std::vector<std::string>{"prepare"});
    env->fork()->prepare();
    CHECK(*calls == std::vector<std::string>{"prepare", "fork", "prepare"});
  }
}

TEST_CASE("prepare of a suite that lacks what it needs throws in every role") {
  for (const std::string& role : role_names()) {
    CAPTURE(role);
    struct Broken : ToyEnv {
      void prepare() override { throw Error("no sandbox here"); }
    };
    CHECK_THROWS_WITH(role_env(std::make_unique<Broken>(), role, {})->prepare(), "no sandbox here");
  }
}

TEST_CASE("a wrapper that overrides nothing forwards everything") {
  const auto calls = std::make_shared<std::vector<std::string>>();
  const auto env = std::make_unique<Plain>(std::make_unique<Spy>(calls));
  Rng rng(1);
  env->prepare();
  CHECK(env->reset({Split::test, 2}).observation.parts.size() == 1);
  CHECK(env->task().kind == "count");
  CHECK(env->check_step({"", "x"})->reason == "as seen");
  CHECK(env->demonstrate(rng)->at(0).text == "shown");
  CHECK(env->mistake(rng)->text == "wrong");
  CHECK(env->corrupt_step({"", "x"}, ErrorKind::calculation, rng) == "corrupt");
  CHECK(env->step({"nonsense", {}}).refused.has_value());
  const std::vector<std::string> all{"prepare",     "reset",   "task",         "check_step",
                                     "demonstrate", "mistake", "corrupt_step", "step"};
  CHECK(*calls == all);
}

TEST_CASE("a judging role has no steps of the suite's") {
  Rng rng(1);
  for (const std::string role : {"critic", "sneaky", "verifier"}) {
    CAPTURE(role);
    const auto env = role_env(std::make_unique<Spy>(std::make_shared<std::vector<std::string>>()), role, {});
    CHECK_FALSE(env->check_step({"", "x"}));
    CHECK_FALSE(env->corrupt_step({"", "x"}, ErrorKind::calculation, rng));
  }
}
