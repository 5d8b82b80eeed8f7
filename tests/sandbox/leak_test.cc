// leak_test TIER SESSIONS [SEED]: opens, uses, forks and closes sessions on two threads while sessions, interpreters
// and whole launchers are killed at random moments, then looks for leaks: processes, descriptors, mounts, files,
// cgroups, shared memory. Prints what it did; exit code 0 when nothing is left.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/file_lock.h"
#include "core/text.h"
#include "paths.h"
#include "sandbox/sandbox.h"

namespace {

namespace fs = std::filesystem;
using namespace agon;
using namespace agon::sandbox;

constexpr int kThreads = 2;
constexpr int kSessionsOfLauncher = 500;  // then it is killed or closed, and the next one starts

// The readable part of a file; empty for a file of a process that has ended.
std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// The contents of a folder, up to the point where it disappears, as folders of processes may.
template <typename Iterator = fs::directory_iterator>
std::vector<fs::path> paths_in(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code gone;
  for (Iterator at(folder, fs::directory_options::skip_permission_denied, gone); at != Iterator(); at.increment(gone))
    paths.push_back(at->path());
  return paths;
}

std::vector<std::string> children_of(pid_t process) {
  std::vector<std::string> children;
  for (const fs::path& task : paths_in(fmt::format("/proc/{}/task", process)))
    for (const std::string& child : split_words(text_of(task / "children"))) children.push_back(child);
  return children;
}

std::vector<pid_t> descendants_of(pid_t process) {
  std::vector<pid_t> all;
  for (const std::string& child : children_of(process)) {
    all.push_back(std::stoi(child));
    for (const pid_t further : descendants_of(all.back())) all.push_back(further);
  }
  return all;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const fs::path& path : paths_in(folder)) names.push_back(path.filename());
  std::sort(names.begin(), names.end());
  return names;
}

// Whether the path is a sandbox's folder that no launcher holds any more. Other sandboxes may be running on this
// machine.
bool is_left(const fs::path& path) {
  if (!path.filename().string().starts_with("agon-sandbox-")) return false;
  FileLock folder(Descriptor(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
  return folder && folder.try_lock();
}

std::vector<std::string> left_folders() {
  std::vector<std::string> left;
  for (const fs::path& path : paths_in("/tmp"))
    if (is_left(path)) left.push_back(path);
  for (const char* place : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"})
    for (const fs::path& path : paths_in<fs::recursive_directory_iterator>(place))
      if (is_left(path)) left.push_back(path);
  return left;
}

// The places of this machine in which a sandbox could leave something, with their contents.
std::map<std::string, std::vector<std::string>> belongings() {
  std::map<std::string, std::vector<std::string>> all;
  all["processes"] = children_of(getpid());
  all["descriptors"] = {std::to_string(names_in("/proc/self/fd").size())};
  all["mounts"] = {text_of("/proc/self/mountinfo")};
  all["folders and cgroups"] = left_folders();
  all["shared memory"] = names_in("/dev/shm");
  all["System V IPC"] = {text_of("/proc/sysvipc/shm") + text_of("/proc/sysvipc/sem") + text_of("/proc/sysvipc/msg")};
  return all;
}

std::atomic<int> opened = 0, forked = 0, lost = 0, killed_interpreters = 0, killed_launchers = 0, wrong = 0;

const char* const kWork[] = {
    "import os\nx = bytearray(1 << 20)\nopen('file', 'wb').write(x)\nprint(len(x))",
    "import os, time\nif os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0: time.sleep(1000)\n  os._exit(0)\nprint(1 "
    "<< 20)",
    "import threading, time\nthreading.Thread(target=time.sleep, args=(1000,), daemon=True).start()\nprint(1 << 20)",
    "import os\nread, write = os.pipe()\nos.mkfifo('pipe'); os.mkdir('deep'); os.symlink('/usr', 'link')\nprint(1 << "
    "20)"};

// Whether a result is possible while processes are being killed.
bool is_expected(const Result& result) {
  if (result.ok()) return result.out == "1048576\n" || result.out.empty();
  return result.reason == Reason::sandbox_lost || result.reason == Reason::killed_by_signal;
}

void use_session(Sandbox& sandbox, std::mt19937& random) {
  Session session = sandbox.open(parse_limits("wall=20,cpu=20"));
  ++opened;
  const auto chance = [&random](unsigned in) { return random() % in == 0; };
  const auto run = [&](Session& one, const std::string& code) {
    const Result result = one.run({.code = code});
    if (result.reason == Reason::sandbox_lost) ++lost;
    if (is_expected(result)) return;
    ++wrong;
    fmt::print("unexpected: {} ({}) {}\n", to_string(result.reason), result.text, result.err);
  };
  if (chance(3)) run(session, kWork[random() % std::size(kWork)]);
  if (chance(20)) {
    Session fork = session.fork();
    ++forked;
    run(fork, kWork[0]);
    if (chance(2)) session = std::move(fork);  // closes the session before its fork
  }
  if (chance(10)) {
    run(session, "import os\nos.kill(os.getpid(), 9)");
    ++killed_interpreters;
  }
}

// Kills a random interpreter or init process of the sandbox, from outside.
void kill_one_of(pid_t launcher, std::mt19937& random) {
  std::vector<pid_t> all = descendants_of(launcher);
  if (all.size() < 3) return;
  const pid_t chosen = all[1 + random() % (all.size() - 1)];
  std::string name = text_of(fmt::format("/proc/{}/comm", chosen));
  if (name == "python3\n" || name == "agon-init\n") {
    ::kill(chosen, SIGKILL);
    ++killed_interpreters;
  }
}

// Runs one launcher: sessions on two threads, and in half of the cases the launcher or supervisor is killed meanwhile.
void use_launcher(const SandboxConfig& config, int sessions, std::mt19937& random) {
  auto sandbox = std::make_unique<Sandbox>(config);
  const pid_t launcher = sandbox->process();
  std::atomic<int> left = sessions;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&, seed = random()] {
      std::mt19937 own(seed);
      while (left.fetch_sub(1) > 0) try {
          use_session(*sandbox, own);
        } catch (const Error&) {
          ++lost;  // the template or the launcher was killed, so all later sessions fail
        }
    });
  const bool dies = random() % 2 == 0;
  const int at = dies ? static_cast<int>(random() % static_cast<unsigned>(sessions)) : 0;
  while (left > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    if (random() % 40 == 0) kill_one_of(launcher, random);
    if (!dies || left > at) continue;
    // Kills the launcher or the supervisor.
    const std::vector<std::string> supervisor = children_of(launcher);
    ::kill(random() % 2 == 0 || supervisor.empty() ? launcher : std::stoi(supervisor.front()), SIGKILL);
    ++killed_launchers;
    left = 0;
  }
  for (std::thread& thread : threads) thread.join();
}

// Waits for orphans that have ended; this process adopts all orphans.
void reap() {
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

std::vector<std::string> differences(const std::map<std::string, std::vector<std::string>>& before) {
  std::vector<std::string> found;
  for (const auto& [what, now] : belongings())
    if (now != before.at(what)) found.push_back(fmt::format("{}: {}", what, fmt::join(now, " ")));
  return found;
}

int run_sessions(Tier tier, int sessions, unsigned seed) {
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return 1;
  SandboxConfig config;
  config.launcher = agon::test::launcher_path();
  config.floor = config.best = tier;
  config.modules = {};
  { Sandbox(config).open(); }  // creates everything that is made only once
  const auto before = belongings();
  std::mt19937 random(seed);
  while (opened < sessions) use_launcher(config, std::min(kSessionsOfLauncher, sessions - opened), random);
  std::vector<std::string> left;
  for (int round = 0; round < 200; ++round) {
    reap();
    left = differences(before);
    if (left.empty()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  fmt::print("{} sessions and {} forks; {} interpreters and {} launchers killed, {} sessions or calls lost to that\n",
             opened.load(), forked.load(), killed_interpreters.load(), killed_launchers.load(), lost.load());
  for (const std::string& one : left) fmt::print("LEFT {}\n", one);
  return left.empty() && wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) {
    fmt::print(stderr, "usage: leak_test TIER SESSIONS [SEED]\n");
    return 2;
  }
  try {
    return run_sessions(tier_from(arguments[1]), std::atoi(arguments[2]), count > 3 ? std::stoul(arguments[3]) : 1);
  } catch (const std::exception& error) {
    fmt::print("FAILED: {}\n", error.what());
    return 1;
  }
}
