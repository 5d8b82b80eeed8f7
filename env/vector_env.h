// env/vector_env.h - many Envs stepped by a pool of threads, all at once (step) or first-finished (send / recv, as
// EnvPool).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "env/env.h"
#include "env/suite.h"

namespace agon::env {

// Gymnasium's three modes (AutoresetMode). next_step: the step after an end ignores its action, returns the new
// episode's first observation with reward 0. same_step: the ending step already returns the new episode's first
// observation, the old one's last in `final_observation` / `final_info`. disabled: the caller resets.
enum class Autoreset { next_step, same_step, disabled };

struct VectorOptions {
  int num_envs = 8;
  int batch_size = 0;  // recv() returns this many; 0: num_envs
  int threads = 0;     // 0: the machine's cores
  Autoreset autoreset = Autoreset::next_step;
  Split split = Split::train;
  std::uint64_t seed = 0;  // env i plays tasks i, i + num_envs, i + 2 num_envs, ... of this seed
};

struct VectorStep {
  int env_id = 0;
  StepResult result;
  std::unique_ptr<StepResult> final;  // same_step only: the ending step of the old episode
};

// Results come in env order from reset/step; in order of completion from recv.
// REQUIRES: either step() or send()/recv() is used between two resets, not both.
class VectorEnv {
 public:
  VectorEnv(const std::string& suite, const SuiteOptions& suite_options, const VectorOptions& options);
  ~VectorEnv();
  int num_envs() const;
  std::vector<VectorStep> reset();                              // starts every env's next task
  std::vector<VectorStep> reset(std::span<const int> env_ids);  // disabled mode: only these
  std::vector<VectorStep> step(std::vector<Action> actions);    // one a env. REQUIRES: actions.size() == num_envs()
  void async_reset();
  void send(int env_id, Action action);  // REQUIRES: env_id is not in flight
  std::vector<VectorStep> recv();        // the first batch_size to finish

 private:
  struct Pool;
  std::unique_ptr<Pool> pool_;
};

}  // namespace agon::env
