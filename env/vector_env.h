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
  // Env i plays tasks i, i + num_envs, i + 2 num_envs, ... of this seed; the test split begins again at its end.
  std::uint64_t seed = 0;
};

struct VectorStep {
  int env_id = 0;
  StepResult result;
  std::unique_ptr<StepResult> final;  // same_step only: the ending step of the old episode
};

// Results come in env order from reset/step; in order of completion from recv. Its methods are called from one thread.
// Misuse throws Error and changes nothing: stepping an env that was never reset or is in flight, receiving more than is
// in flight, options out of range. If an env throws, the call that would have returned its result throws Error with the
// env's number. That env then waits for a reset; the results of the others come with the next recv (a step loses them).
class VectorEnv {
 public:
  VectorEnv(const Suite& suite, const VectorOptions& options);
  // test_tasks: the size of the test split of what `make` builds.
  VectorEnv(const EnvFactory& make, std::uint64_t test_tasks, const VectorOptions& options);
  ~VectorEnv();
  int num_envs() const;
  std::vector<VectorStep> reset();                              // starts every env's next task
  std::vector<VectorStep> reset(std::span<const int> env_ids);  // disabled mode: only these
  std::vector<VectorStep> step(std::vector<Action> actions);    // one per env; nothing may be in flight
  void async_reset();                                           // sends every env its next task
  void send(int env_id, Action action);
  std::vector<VectorStep> recv();  // the first batch_size to finish

 private:
  struct Pool;
  std::unique_ptr<Pool> pool_;
};

}  // namespace agon::env
