// abuse_runner CASE.py WALLS [USER [SLOWER]]: runs one case of tests/sandbox/abuse (its README.md has the format) and
// checks what it did to this host. WALLS: a tier, or a backend: bwrap at tier B, docker or podman at C. USER: a number
// to become first. SLOWER: how many times longer the limits of time are, on an emulated machine. Exit codes: 0 held, 1
// not, 77 only root can become another user.
#include <dirent.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>

#include "core/error.h"
#include "core/text.h"
#include "sandbox/sandbox.h"

namespace {

namespace fs = std::filesystem;
using namespace agon;
using namespace agon::sandbox;

constexpr const char* kCanary = "/tmp/agon-abuse-canary";
constexpr const char* kSecret = "gold-answer-7391";
constexpr int kPort = 38571;
constexpr int kRuledOut = 77;

struct Step {
  std::string kind;  // "", "next call", "other session", "fork", "back"
  std::string code;
  std::vector<std::string> reasons = {"ok"};
  std::string output;
};

struct Case {
  std::vector<Step> steps;
  Limits limits = parse_limits("wall=5,cpu=5,memory=512M,processes=32,file=64M,disk=64M,inodes=10000,output=256M");
  std::string tiers;
  bool dropped = false;
  std::vector<std::string> artifacts;
  std::size_t pictures = 0;
  bool names_processes = false;
};

std::vector<std::string> list_of(std::string_view text) {
  std::vector<std::string> items;
  for (const std::string& item : split(text, ",")) items.emplace_back(trim(item));
  return items;
}

// "# key: value"
std::optional<std::pair<std::string, std::string>> key_of(const std::string& line) {
  const std::size_t colon = line.find(": ");
  if (!line.starts_with("# ") || colon == std::string::npos) return std::nullopt;
  return std::pair(line.substr(2, colon - 2), std::string(trim(line.substr(colon + 2))));
}

// The library's mark() gives a process the name that is looked for.
bool names_processes(const std::string& code) {
  return code.find("mark()") != std::string::npos || code.find("agon-abuse-churn") != std::string::npos;
}

class Reader {
 public:
  explicit Reader(const fs::path& path) : folder_(path.parent_path()) {
    read_.steps.emplace_back();
    std::istringstream lines(read_file(path));
    bool in_header = true;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("# ---- ")) {
        read_.steps.push_back({line.substr(7), "", {"ok"}, ""});
        in_header = true;
        continue;
      }
      const auto key = in_header ? key_of(line) : std::nullopt;
      if (key)
        take(key->first, key->second);
      else
        in_header = in_header && line.starts_with("#");
      read_.steps.back().code += line + "\n";
    }
    for (const Step& step : read_.steps) read_.names_processes |= names_processes(step.code);
    if (uses_library_) read_.steps.front().code = read_file(folder_ / "lib.py") + read_.steps.front().code;
  }
  Case result() && { return std::move(read_); }

 private:
  void take(const std::string& key, const std::string& value) {
    Step& step = read_.steps.back();
    if (key.starts_with("case ")) return;
    if (key == "reason")
      step.reasons = list_of(value);
    else if (key == "output")
      step.output = value;
    else if (key == "limits")
      read_.limits = parse_limits(value, read_.limits);
    else if (key == "tiers")
      read_.tiers = value;
    else if (key == "dropped")
      read_.dropped = value == "yes";
    else if (key == "use")
      uses_library_ = value == "lib";
    else if (key == "artifacts")
      take_artifacts(value);
    else
      throw Error("abuse: there is no key '{}'", key);
  }

  void take_artifacts(const std::string& value) {
    const std::size_t arrow = value.find("->");
    read_.artifacts = list_of(value.substr(0, arrow));
    for (std::string& name : read_.artifacts)
      if (const std::size_t at = name.find("\\0"); at != std::string::npos) name.replace(at, 2, 1, '\0');
    if (arrow != std::string::npos) read_.pictures = std::stoul(value.substr(arrow + 2));
  }

  fs::path folder_;
  Case read_;
  bool uses_library_ = false;
};

// What every case finds on the host, and what must be as it was afterwards.
class Host {
 public:
  Host() {
    if (fs::create_directories(kCanary)) fs::permissions(kCanary, fs::perms::all);
    if (!fs::exists(secret())) std::ofstream(secret()) << kSecret;  // cases run as root and as others, side by side
    setenv("AGON_ABUSE_SECRET", kSecret, 1);
    listen_on_port();
    listen_on_name();
    settings_ = settings();
  }
  ~Host() {
    for (const int socket : sockets_) close(socket);
  }

  std::vector<std::string> faults(bool names_processes) const {
    std::vector<std::string> found;
    if (read_file(secret()) != kSecret) found.emplace_back("the canary file was changed");
    for (const auto& entry : fs::directory_iterator(kCanary))
      if (entry.path().filename() != "secret") found.push_back("there is a new file " + entry.path().string());
    if (settings() != settings_) found.emplace_back("settings of the kernel were changed");
    for (const int socket : sockets_)
      if (accept4(socket, nullptr, nullptr, SOCK_NONBLOCK) >= 0)
        found.emplace_back("somebody reached a socket of the host");
    if (!names_processes) return found;
    for (const std::string& name : left_processes()) found.push_back("a process is left: " + name);
    return found;
  }

 private:
  static std::string secret() { return std::string(kCanary) + "/secret"; }

  static std::string settings() {
    std::string all;
    for (const char* name :
         {"kernel/core_pattern", "kernel/modprobe", "kernel/sysrq", "kernel/hostname", "vm/overcommit_memory"}) {
      std::ifstream file(std::string("/proc/sys/") + name);
      all += std::string(std::istreambuf_iterator<char>(file), {}) + "\n";
    }
    std::ifstream mounts("/proc/self/mountinfo");
    return all + std::string(std::istreambuf_iterator<char>(mounts), {});
  }

  void keep(int socket) {
    if (listen(socket, 8) != 0) throw Error("abuse: no canary socket: {}", std::strerror(errno));
    sockets_.push_back(socket);
  }

  void listen_on_port() {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const int on = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(kPort);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) keep(socket);
  }

  void listen_on_name() {
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    constexpr std::string_view kName = "agon-abuse-canary";
    std::copy(kName.begin(), kName.end(), address.sun_path + 1);
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + kName.size());
    if (bind(socket, reinterpret_cast<sockaddr*>(&address), size) == 0)
      keep(socket);
    else
      close(socket);  // another case runs beside this one, and watches it
  }

  // Cases call what they might leave behind by this name; CTest runs no two of those at once.
  static std::vector<std::string> left_processes() {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      for (const char* part : {"comm", "cmdline"}) {
        std::ifstream file(entry.path() / part, std::ios::binary);
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        if (text.starts_with("agon-abuse") || text.find(std::string(1, '\0') + "agon-abuse") != std::string::npos)
          found.push_back(entry.path().filename());
      }
    }
    return found;
  }

  std::vector<int> sockets_;
  std::string settings_;
};

class Run {
 public:
  Run(const Case& abuse, const SandboxConfig& config) : abuse_(abuse), sandbox_(config) {}

  std::vector<std::string> faults() {
    sessions_.push_back(sandbox_.open(abuse_.limits));
    for (const Step& step : abuse_.steps) play(step);
    sessions_.clear();
    Session next = sandbox_.open();
    if (const Result result = next.run({.code = "print(1 + 1)"}); result.out != "2\n")
      fault(fmt::format("the next job printed '{}' ({}: {})", result.out, to_string(result.reason), result.text));
    return faults_;
  }

 private:
  void fault(const std::string& what) { faults_.push_back(what); }

  void play(const Step& step) {
    if (step.kind == "other session")
      at_ = add(sandbox_.open(abuse_.limits));
    else if (step.kind == "fork")
      at_ = add(sessions_.front().fork());
    else if (step.kind == "back")
      at_ = 0;
    const auto start = std::chrono::steady_clock::now();
    const Result result = sessions_[at_].run({.code = step.code, .name = "abuse.py", .artifacts = abuse_.artifacts});
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    fmt::print("--- {} {} in {:.2f} s: {}\n{}{}", step.kind, to_string(result.reason), seconds, result.text, result.out,
               result.err);
    check(step, result, seconds);
  }

  void check(const Step& step, const Result& result, double seconds) {
    const std::string reason(to_string(result.reason));
    if (std::find(step.reasons.begin(), step.reasons.end(), reason) == step.reasons.end())
      fault(fmt::format("it ended with {} ({})", reason, result.text));
    if (result.out.find("ESCAPED") != std::string::npos || result.err.find("ESCAPED") != std::string::npos)
      fault("it says that it escaped");
    if (result.out.find(kSecret) != std::string::npos) fault("it printed the secret");
    if (!step.output.empty() && result.out.find(step.output) == std::string::npos)
      fault("it did not print '" + step.output + "'");
    if (seconds > abuse_.limits.wall + 1) fault(fmt::format("it took {:.2f} s", seconds));
    if (abuse_.dropped && &step == &abuse_.steps.front() && result.dropped_bytes == 0) fault("nothing was dropped");
    if (result.artifacts.size() != abuse_.pictures) fault(fmt::format("{} pictures came out", result.artifacts.size()));
    if (result.tier != sandbox_.tier()) fault("the result carries another tier");
  }

  std::size_t add(Session session) {
    sessions_.push_back(std::move(session));
    return sessions_.size() - 1;
  }

  const Case& abuse_;
  Sandbox sandbox_;
  std::vector<Session> sessions_;
  std::size_t at_ = 0;
  std::vector<std::string> faults_;
};

// The launcher where every user can start it; owned by who runs the case.
class LauncherCopy {
 public:
  explicit LauncherCopy(uid_t user) {
    std::string name = fs::temp_directory_path() / "agon-abuse-launcher-XXXXXX";
    if (!mkdtemp(name.data())) throw Error("abuse: no folder {}: {}", name, std::strerror(errno));
    folder_ = name;
    fs::permissions(folder_, fs::perms(0755));  // root lends the sandbox another user, who starts it within bwrap
    const fs::path from = fs::path(AGON_LAUNCHER).parent_path();
    for (const char* file : {"agon-sandbox", "libagon_guest.so"}) fs::copy_file(from / file, folder_ / file);
    if (chown(name.c_str(), user, user) != 0) throw Error("abuse: chown {}: {}", name, std::strerror(errno));
  }
  ~LauncherCopy() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  std::string path() const { return folder_ / "agon-sandbox"; }

 private:
  fs::path folder_;
};

// Tier A needs a cgroup of its own, delegated as a service manager does it: what is run here is in one, which is empty
// and gone afterwards.
class DelegatedCgroup {
 public:
  explicit DelegatedCgroup(uid_t user) {
    std::string own = read_file("/proc/self/cgroup");
    own = std::string(trim(own.substr(own.find("0::") + 3)));
    folder_ = fs::path("/sys/fs/cgroup" + own) / fmt::format("abuse-{}", getpid());
    fs::create_directory(folder_);
    for (const char* name : {".", "cgroup.procs", "cgroup.subtree_control", "cgroup.threads"})
      if (chown((folder_ / name).c_str(), user, user) != 0) throw Error("abuse: chown {}", folder_.string());
  }
  void enter() const { std::ofstream(folder_ / "cgroup.procs") << getpid(); }
  // Once nobody is in it: the names of cgroups that were left, but for the host's own.
  std::vector<std::string> remove() const {
    std::vector<std::string> left;
    rmdir((folder_ / "agon-host").c_str());
    for (const auto& entry : fs::directory_iterator(folder_))
      if (entry.is_directory()) left.push_back(entry.path());
    rmdir(folder_.c_str());
    return left;
  }

 private:
  fs::path folder_;
};

bool become(std::optional<uid_t> user) {
  if (!user || geteuid() == *user || (setgid(*user) == 0 && setuid(*user) == 0)) return true;
  fmt::print("cannot become user {}\n", *user);
  return false;
}

int run_case(const Case& abuse, Tier tier, Backend backend, const LauncherCopy& launcher) {
  const Host host;
  std::vector<std::string> faults;
  {
    SandboxConfig config;
    config.floor = config.best = tier;
    config.launcher = launcher.path();
    config.backend = backend;
    faults = Run(abuse, config).faults();
  }
  for (const std::string& fault : host.faults(abuse.names_processes)) faults.push_back(fault);
  for (const std::string& fault : faults) fmt::print("FAILED: {}\n", fault);
  return faults.empty() ? 0 : 1;
}

int run_in_cgroup(const Case& abuse, const LauncherCopy& launcher, std::optional<uid_t> user) {
  const DelegatedCgroup cgroup(user.value_or(geteuid()));
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    cgroup.enter();
    int code = kRuledOut;
    try {
      if (become(user)) code = run_case(abuse, Tier::a, Backend::native, launcher);
    } catch (const std::exception& error) {
      fmt::print("FAILED: {}\n", error.what());
      code = 1;
    }
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
  Case abuse = Reader(file).result();
  abuse.limits.wall *= slower;
  abuse.limits.cpu *= slower;
  if (abuse.tiers.find(tier) == std::string::npos)
    throw Error("tier {} does not hold this case (docs/sandbox.md)", tier);
  const LauncherCopy launcher(user.value_or(geteuid()));
  if (tier == "A") return run_in_cgroup(abuse, launcher, user);
  return become(user) ? run_case(abuse, tier_from(tier), backend, launcher) : kRuledOut;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) {
    fmt::print(stderr, "usage: abuse_runner CASE.py WALLS [USER [SLOWER]]\n");
    return 2;
  }
  try {
    return run(arguments[1], arguments[2],
               count > 3 ? std::optional(static_cast<uid_t>(std::atoi(arguments[3]))) : std::nullopt,
               count > 4 ? std::atof(arguments[4]) : 1);
  } catch (const std::exception& error) {
    fmt::print("FAILED: {}\n", error.what());
    return 1;
  }
}
