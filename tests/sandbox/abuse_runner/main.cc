// abuse_runner CASE.py WALLS [USER [SLOWER]]: runs one case of tests/sandbox/abuse (its README.md has the format) and
// checks what it did to this host. WALLS: a tier, or a backend: bwrap at tier B, docker or podman at C. USER: a user id
// to switch to first. SLOWER: factor of the time limits, for an emulated machine. Exit codes: 0 the sandbox held, 1 it
// did not, 77 skipped because only root can become another user.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "sandbox/backend.h"
#include "sandbox/sandbox.h"
#include "tests/sandbox/abuse_runner/case.h"
#include "tests/sandbox/abuse_runner/delegated_cgroup.h"
#include "tests/sandbox/abuse_runner/host.h"
#include "tests/sandbox/abuse_runner/launcher_copy.h"
#include "tests/sandbox/abuse_runner/run.h"

namespace agon::sandbox::abuse {
namespace {

constexpr int kRuledOut = 77;

bool become(std::optional<uid_t> user) {
  if (!user || geteuid() == *user || (setgid(*user) == 0 && setuid(*user) == 0)) return true;
  fmt::print("cannot become user {}\n", *user);
  return false;
}

int run_case(const Case& abuse, Tier tier, Backend backend, const LauncherCopy& launcher, double slower) {
  const Host host;
  std::vector<std::string> faults;
  {
    SandboxConfig config;
    config.floor = config.best = tier;
    config.launcher = launcher.path();
    config.backend = backend;
    faults = faults_of(abuse, config, slower);
  }
  for (const std::string& fault : host.faults(abuse.names_processes)) faults.push_back(fault);
  for (const std::string& fault : faults) fmt::print("FAILED: {}\n", fault);
  return faults.empty() ? 0 : 1;
}

int run_as(std::optional<uid_t> user, const Case& abuse, const LauncherCopy& launcher, double slower) try {
  return become(user) ? run_case(abuse, Tier::a, Backend::native, launcher, slower) : kRuledOut;
} catch (const std::exception& error) {
  fmt::print("FAILED: {}\n", error.what());
  return 1;
}

int run_in_cgroup(const Case& abuse, const LauncherCopy& launcher, std::optional<uid_t> user, double slower) {
  const DelegatedCgroup cgroup(user.value_or(geteuid()));
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    cgroup.enter();
    const int code = run_as(user, abuse, launcher, slower);
    std::fflush(stdout);
    _exit(code);
  }
  int status = 0;
  waitpid(child, &status, 0);
  const std::vector<std::string> left = cgroup.remove();
  for (const std::string& name : left) fmt::print("FAILED: a cgroup is left: {}\n", name);
  return left.empty() && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int run(const std::string& file, const std::string& walls, std::optional<uid_t> user, double slower) {
  const Backend backend = walls.size() == 1 ? Backend::native : backend_from(walls);
  const std::string tier = backend == Backend::native ? walls : backend == Backend::bwrap ? "B" : "C";
  Case abuse = read_case(file);
  abuse.limits.wall *= slower;
  abuse.limits.cpu *= slower;
  if (abuse.tiers.find(tier) == std::string::npos)
    throw Error("tier {} does not hold this case (docs/sandbox.md)", tier);
  const LauncherCopy launcher(user.value_or(geteuid()));
  if (tier == "A") return run_in_cgroup(abuse, launcher, user, slower);
  return become(user) ? run_case(abuse, tier_from(tier), backend, launcher, slower) : kRuledOut;
}

}  // namespace
}  // namespace agon::sandbox::abuse

int main(int count, char** arguments) {
  if (count < 3) {
    fmt::print(stderr, "usage: abuse_runner CASE.py WALLS [USER [SLOWER]]\n");
    return 2;
  }
  rlimit descriptors{};
  getrlimit(RLIMIT_NOFILE, &descriptors);
  descriptors.rlim_cur = std::min<rlim_t>(descriptors.rlim_max, 1024);  // as on most machines
  setrlimit(RLIMIT_NOFILE, &descriptors);
  try {
    return agon::sandbox::abuse::run(
        arguments[1], arguments[2],
        count > 3 ? std::optional(static_cast<uid_t>(std::atoi(arguments[3]))) : std::nullopt,
        count > 4 ? std::atof(arguments[4]) : 1);
  } catch (const std::exception& error) {
    fmt::print("FAILED: {}\n", error.what());
    return 1;
  }
}
