#include "env/wrappers/held_out.h"

#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "env/wrappers/env_wrapper.h"

namespace agon::env {
namespace {

class HeldOutEnv final : public EnvWrapper {
 public:
  HeldOutEnv(std::unique_ptr<Env> env, ErrorKind held_out) : EnvWrapper(std::move(env)), held_out_(held_out) {}

  std::unique_ptr<Env> fork() const override { return std::make_unique<HeldOutEnv>(*this); }
  std::optional<std::string> corrupt_step(const StepQuery& query, ErrorKind kind, Rng& rng) const override {
    return kind == held_out_ ? std::nullopt : EnvWrapper::corrupt_step(query, kind, rng);
  }

 private:
  ErrorKind held_out_;
};

}  // namespace

ErrorKind held_out_kind(const std::string& name) {
  if (const auto kind = error_kind_of(name)) return *kind;
  std::vector<std::string> names;
  for (const ErrorKind known : kErrorKinds) names.emplace_back(to_string(known));
  throw Error("{}", unknown_name_message("kind of error", name, names));
}

std::unique_ptr<Env> held_out_env(std::unique_ptr<Env> env, ErrorKind kind) {
  return std::make_unique<HeldOutEnv>(std::move(env), kind);
}

}  // namespace agon::env
