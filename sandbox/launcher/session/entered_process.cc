#include "sandbox/launcher/session/entered_process.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>

#include "core/descriptor.h"

namespace agon::sandbox::launcher {
namespace {

constexpr std::int64_t kForkedSessions = 256;   // processes that forks of a session may add to its count
constexpr std::int64_t kMostOfUser = 8192;      // processes of one user where all sessions share it
constexpr std::int64_t kSlack = 32 << 20;       // bytes of data above the limit that the interpreter itself may need
constexpr std::int64_t kAddresses = 2ll << 30;  // bytes of address space above it: page tables grow with what is used

}  // namespace

bool is_in_namespaces(pid_t process, const InitProcess::Namespaces& namespaces) {
  const auto same = [process](const char* name, const Descriptor& expected) {
    struct stat is {
    }, should{};
    return stat(fmt::format("/proc/{}/ns/{}", process, name).c_str(), &is) == 0 &&
           fstat(expected.get(), &should) == 0 && is.st_ino == should.st_ino;
  };
  return same("user", namespaces.users) && same("mnt", namespaces.mounts) && same("pid", namespaces.pids);
}

std::string fault_of_confinement(const ProcessStatus& status) {
  for (const char* name : {"CapEff", "CapPrm", "CapInh", "CapAmb"})
    if (status.field(name).find_first_not_of('0') != std::string::npos) return "the new process kept capabilities";
  if (status.field("Seccomp") != "2" || status.field("NoNewPrivs") != "1") return "the new process is not filtered";
  return "";
}

void set_rlimits(pid_t process, const ProcessStatus& status, const Limits& limits, bool in_namespaces) {
  const auto set = [process](int resource, std::int64_t value) {
    rlimit had{};
    checked(prlimit(process, static_cast<__rlimit_resource>(resource), nullptr, &had), "prlimit");
    const rlim_t most = std::min(static_cast<rlim_t>(value), had.rlim_max);
    const rlimit limit{most, most};
    checked(prlimit(process, static_cast<__rlimit_resource>(resource), &limit, nullptr), "prlimit");
  };
  set(RLIMIT_FSIZE, limits.file);
  // The kernel counts by user namespace; without one, it counts everything that the user runs.
  set(RLIMIT_NPROC, in_namespaces ? limits.processes + kForkedSessions : kMostOfUser);
  set(RLIMIT_DATA, status.bytes("VmData") + limits.memory + kSlack);
  set(RLIMIT_AS, status.bytes("VmSize") + limits.memory + kAddresses);
}

}  // namespace agon::sandbox::launcher
