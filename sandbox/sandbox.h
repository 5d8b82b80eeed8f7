// sandbox/sandbox.h - Python interpreters for hostile code: they start in milliseconds, keep their state from call to
// call, and fork.
//   Sandbox sandbox({});
//   Session session = sandbox.open({});
//   session.run({.code = "x = 1"});
//   Session other = session.fork();   // has x, and the files; the two are independent
// docs/sandbox.md lists the guarantees of each tier. The sandbox contains no gold answers, no keys, and nothing of this
// process's environment: the launcher is started with an empty environment and gets only the code. The program of
// another backend also gets the variables by which it finds its engine.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "sandbox/backend.h"
#include "sandbox/call_request.h"
#include "sandbox/limits.h"
#include "sandbox/result.h"

namespace agon::sandbox {

struct SandboxConfig {
  std::string interpreter = "/usr/bin/python3";
  std::vector<std::string> modules = {"numpy", "cv2"};  // imported before any session starts
  std::vector<std::string> readable;  // folders that sessions may read in addition to /usr, such as an interpreter's
  Backend backend = Backend::native;
  Tier floor = Tier::b;  // refuse to run below it
  Tier best = Tier::a;   // do not try better ones
  std::string launcher;  // path of agon-sandbox; empty: next to this program
};

class Launcher;

// Thrown if a fork failed. `reason`: how code in the fork would have ended; sandbox_lost only if the sandbox itself
// failed.
struct ForkRefused : Error {
  ForkRefused(Reason ends_with, const std::string& why) : Error("sandbox: {}", why), reason(ends_with) {}
  Reason reason;
};

// A live interpreter. Calls block; only one may run at a time. Movable; the destructor closes the session.
class Session {
 public:
  Session(std::shared_ptr<Launcher> launcher, int id, std::uint64_t seed);
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  // Never throws because of what the code did, or because the launcher has ended (sandbox_lost). A session that has
  // ended returns the reason for its end, and runs nothing (Result::ran).
  Result run(const CallRequest& request);
  // Throws ForkRefused if the session is dead or the copy does not fit. Each fork has its own streams of random
  // numbers, the same in every run: they follow from this session's seed and the number of earlier forks.
  Session fork();
  bool lost() const;  // the launcher has ended
  // Write and read a file of the workspace, by its path in it. Throw Error.
  void write(const std::string& name, const std::string& bytes);
  std::string read(const std::string& name);

 private:
  std::shared_ptr<Launcher> launcher_;
  int id_ = 0;
  std::uint64_t seed_ = 0, forks_ = 0;
};

// One launcher process with any number of sessions. Thread-safe; sessions may be used from different threads.
class Sandbox {
 public:
  // Throws Error with the reason if no tier down to the floor is available or the interpreter does not start.
  explicit Sandbox(const SandboxConfig& config = {});
  ~Sandbox();
  // seed: for `random` and numpy's global generator. Waits while there is no room for another session; throws Error
  // after a minute.
  Session open(const Limits& limits = {}, std::uint64_t seed = 0);
  int room() const;  // sessions that can be open at a time
  Tier tier() const;
  const std::vector<MissedTier>& missed() const;  // better tiers that were tried, and why they are unavailable
  int process() const;                            // id of the launcher process
  bool lost() const;  // the launcher has ended: its sessions return sandbox_lost, and none can be opened

 private:
  std::shared_ptr<Launcher> launcher_;
};

}  // namespace agon::sandbox
