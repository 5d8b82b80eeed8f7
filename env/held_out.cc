#include "env/held_out.h"

#include <vector>

#include "core/error.h"
#include "core/text.h"

namespace agon::env {
namespace {

class HeldOutEnv final : public Env {
 public:
  HeldOutEnv(std::unique_ptr<Env> env, ErrorKind held_out) : env_(std::move(env)), held_out_(held_out) {}

  void prepare() override { env_->prepare(); }
  StepResult reset(const ResetOptions& options) override { return env_->reset(options); }
  StepResult step(const Action& action) override { return env_->step(action); }
  std::unique_ptr<Env> fork() const override { return std::make_unique<HeldOutEnv>(env_->fork(), held_out_); }
  const TaskInfo& task() const override { return env_->task(); }
  std::optional<StepLabel> check_step(const StepQuery& query) const override { return env_->check_step(query); }
  std::optional<std::vector<Action>> demonstrate(Rng& rng) const override { return env_->demonstrate(rng); }
  std::optional<Action> mistake(Rng& rng) const override { return env_->mistake(rng); }
  std::optional<std::string> corrupt_step(const StepQuery& query, ErrorKind kind, Rng& rng) const override {
    return kind == held_out_ ? std::nullopt : env_->corrupt_step(query, kind, rng);
  }

 private:
  std::unique_ptr<Env> env_;
  ErrorKind held_out_;
};

}  // namespace

std::unique_ptr<Env> held_out_env(std::unique_ptr<Env> env, const std::string& kind) {
  if (const auto held_out = error_kind_of(kind)) return std::make_unique<HeldOutEnv>(std::move(env), *held_out);
  std::vector<std::string> names;
  for (const ErrorKind known : kErrorKinds) names.emplace_back(to_string(known));
  throw Error("{}", unknown_name_message("kind of error", kind, names));
}

}  // namespace agon::env
