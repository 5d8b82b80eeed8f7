// env/wrappers/env_wrapper.h - the base class of Envs that change another Env: it forwards every call except fork() to
// the inner Env, and a wrapper overrides what it changes. Each new function of Env has to be forwarded here too.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "env/env.h"

namespace agon::env {

class EnvWrapper : public Env {
 public:
  void prepare() override { inner_->prepare(); }
  StepResult reset(const ResetOptions& options) override { return inner_->reset(options); }
  StepResult step(const Action& action) override { return inner_->step(action); }
  const TaskInfo& task() const override { return inner_->task(); }
  std::optional<StepLabel> check_step(const StepQuery& query) const override { return inner_->check_step(query); }
  std::optional<std::vector<Action>> demonstrate(Rng& rng) const override { return inner_->demonstrate(rng); }
  std::optional<Action> mistake(Rng& rng) const override { return inner_->mistake(rng); }
  std::optional<std::string> corrupt_step(const StepQuery& query, ErrorKind kind, Rng& rng) const override {
    return inner_->corrupt_step(query, kind, rng);
  }

 protected:
  explicit EnvWrapper(std::unique_ptr<Env> inner) : inner_(std::move(inner)) {}
  // Forks the inner Env, so a derived class can implement fork() as a copy of itself.
  EnvWrapper(const EnvWrapper& other) : Env(other), inner_(other.inner_->fork()) {}
  EnvWrapper& operator=(const EnvWrapper&) = delete;

  Env& inner() { return *inner_; }
  const Env& inner() const { return *inner_; }

 private:
  std::unique_ptr<Env> inner_;
};

}  // namespace agon::env
