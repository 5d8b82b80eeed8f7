// sandbox/sandbox.h - interpreters for hostile code: they start in milliseconds, keep their state from call to call,
// and fork.
//   Sandbox sandbox({});
//   Session session = sandbox.open({});
//   session.run({.code = "x = 1"});
//   Session other = session.fork();   // has x, and the files; the two are independent
// docs/sandbox.md says what holds at which tier. Gold answers, keys and the environment of this process are not in it:
// the launcher is started with an empty environment and gets nothing but the code. Another backend's program also gets
// the variables by which it finds its engine.
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
  std::vector<std::string> readable;  // folders besides /usr that sessions may read: where another interpreter lies
  Backend backend = Backend::native;
  Tier floor = Tier::b;  // refuse to run below it
  Tier best = Tier::a;   // do not try above it
  std::string launcher;  // path of agon-sandbox; empty: next to this program
};

class Launcher;

// The fork failed. `reason`: how the fork's code would have ended; sandbox_lost only where the machinery failed.
struct ForkRefused : Error {
  ForkRefused(Reason ends_with, const std::string& why) : Error("sandbox: {}", why), reason(ends_with) {}
  Reason reason;
};

// A live interpreter. Calls block; one at a time. Movable; the session is closed with it.
class Session {
 public:
  Session(std::shared_ptr<Launcher> launcher, int id, std::uint64_t seed);
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  // Never throws for what the code did, nor for a launcher that is gone (sandbox_lost). A session that has ended
  // answers with the reason that ended it, and runs nothing (Result::ran).
  Result run(const CallRequest& request);
  // Throws ForkRefused when the session is dead or the copy does not fit. The streams of random numbers of each fork
  // are its own, and the same ones each time: they follow from this session's seed and the number of forks before.
  Session fork();
  bool lost() const;  // the launcher is gone
  // Files of the workspace, by their path in it. Throw Error.
  void write(const std::string& name, const std::string& bytes);
  std::string read(const std::string& name);

 private:
  std::shared_ptr<Launcher> launcher_;
  int id_ = 0;
  std::uint64_t seed_ = 0, forks_ = 0;
};

// One launcher process, and any number of sessions in it. Thread-safe; sessions may be used from different threads.
class Sandbox {
 public:
  // Throws Error with the reason if no tier down to the floor is available or the interpreter does not start.
  explicit Sandbox(const SandboxConfig& config = {});
  ~Sandbox();
  // seed: of `random` and numpy's own generator. Waits while there is no room for another session; throws Error after a
  // minute.
  Session open(const Limits& limits = {}, std::uint64_t seed = 0);
  int room() const;  // sessions that can be open at a time
  Tier tier() const;
  const std::vector<MissedTier>& missed() const;  // the tiers above it that were tried, and why they are unavailable
  int process() const;                            // of the launcher
  bool lost() const;  // the launcher is gone: every session of it answers sandbox_lost, and none can be opened

 private:
  std::shared_ptr<Launcher> launcher_;
};

}  // namespace agon::sandbox
