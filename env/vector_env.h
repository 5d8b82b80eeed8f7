// env/vector_env.h - steps many Envs on a pool of threads: all at once (step), or in order of completion (send / recv,
// as EnvPool does).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "env/env.h"
#include "env/suite.h"

namespace agon::env {

// Gymnasium's three modes (AutoresetMode). next_step: the step after an end ignores its action and returns the new
// episode's first observation with reward 0. same_step: the ending step already returns the new episode's first
// observation; VectorStep::final holds the old episode's last step (Gymnasium's `final_observation` and `final_info`).
// disabled: the caller resets.
enum class Autoreset { next_step, same_step, disabled };

struct VectorOptions {
  int num_envs = 8;
  int batch_size = 0;  // recv() returns this many; 0: num_envs
  int threads = 0;     // 0: the machine's cores
  Autoreset autoreset = Autoreset::next_step;
  Split split = Split::train;
  // Env i plays tasks i, i + num_envs, i + 2 num_envs, ... of this seed; the test and validation splits start
  // over at their end.
  std::uint64_t seed = 0;
};

struct VectorStep {
  int env_id = 0;
  StepResult result;
  std::unique_ptr<StepResult> final;  // same_step only: the ending step of the old episode
};

// reset and step return results in env order, recv in order of completion. Call all methods from one thread. Misuse
// throws Error and changes nothing: stepping an env that was never reset or is in flight, receiving more than is in
// flight, options out of range. If an env throws, the call that would have returned its result throws Error with the
// env's number. That env then waits for a reset. The next recv returns the results of the other envs; step and
// reset discard them.
class VectorEnv {
 public:
  VectorEnv(const Suite& suite, const VectorOptions& options);
  // test_tasks: size of the test split of the suite whose envs `make` builds.
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
