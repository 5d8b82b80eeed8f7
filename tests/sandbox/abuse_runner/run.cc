// abuse_runner CASE.py WALLS [USER [SLOWER]]: runs one case of tests/sandbox/abuse (its README.md has the format) and
// checks what it did to this host. WALLS: a tier, or a backend: bwrap at tier B, docker or podman at C. USER: a number
// to become first. SLOWER: how many times longer the limits of time are, on an emulated machine. Exit codes: 0 held, 1
// not, 77 only root can become another user.
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
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

struct Range {
  double least = 0, most = 0;
};

struct Step {
  std::string kind;  // "", "next call", "other session", "fork", "back" and the rest of the README's
  std::string code;
  std::vector<std::string> reasons = {"ok"};
  std::string output, text;
  std::optional<Range> cpu, peak;       // seconds; bytes
  std::optional<double> neighbour;      // milliseconds
  std::size_t same_as = 0, unlike = 0;  // numbers of parts; 0: none
  int count = 1;                        // of sessions
  int times = 1;                        // that its code runs
};

struct Case {
  std::vector<Step> steps;
  Limits limits = parse_limits("wall=5,cpu=5,memory=512M,processes=32,file=64M,disk=64M,inodes=10000,output=256M");
  std::string tiers;
  bool dropped = false;
  std::vector<std::string> artifacts;
  std::size_t pictures = 0;
  bool names_processes = false;
  bool uses_host = false;                    // @HOST@
  std::optional<double> on_disk, in_memory;  // bytes, at most
};

constexpr const char* kHostFolder = "@HOST@";

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

double number_of(const std::string& text) {
  std::size_t end = 0;
  const double number = std::stod(text, &end);
  return number * (text.substr(end) == "M" ? 1 << 20 : text.substr(end) == "K" ? 1 << 10 : 1);
}

// "1..2.5", "45M..75M"
Range range_of(const std::string& text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) throw Error("abuse: '{}' is not a range: use 1..2", text);
  return {number_of(text.substr(0, dots)), number_of(text.substr(dots + 2))};
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
        read_.steps.emplace_back().kind = line.substr(7);
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
    for (const Step& step : read_.steps) {
      read_.names_processes |= names_processes(step.code);
      read_.uses_host |= step.code.find(kHostFolder) != std::string::npos;
    }
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
    else if (key == "text")
      step.text = value;
    else if (key == "cpu_s")
      step.cpu = range_of(value);
    else if (key == "peak_memory")
      step.peak = range_of(value);
    else if (key == "neighbour")
      step.neighbour = number_of(value);
    else if (key == "same_as")
      step.same_as = std::stoul(value);
    else if (key == "unlike")
      step.unlike = std::stoul(value);
    else if (key == "count")
      step.count = std::stoi(value);
    else if (key == "times")
      step.times = std::stoi(value);
    else if (key == "on_disk")
      read_.on_disk = number_of(value);
    else if (key == "in_memory")
      read_.in_memory = number_of(value);
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

// What is beneath a folder of the host, with all that a guest might change of it.
std::map<std::string, std::string> state_of(const fs::path& folder) {
  std::map<std::string, std::string> found;
  const auto take = [&](const fs::path& path) {
    struct stat status {};
    lstat(path.c_str(), &status);
    found[path] = fmt::format("mode {:o}, {} bytes, owner {}:{}, changed {}", status.st_mode,
                              S_ISDIR(status.st_mode) ? 0 : status.st_size, status.st_uid, status.st_gid,
                              S_ISDIR(status.st_mode) ? 0 : status.st_mtime);
  };
  take(folder);
  for (const auto& entry : fs::recursive_directory_iterator(folder)) take(entry.path());
  return found;
}

// A folder of who runs the case: `file` (mode 0644) and, in `numbered`, folders 1 to 40 with a file each. A case may
// try to change something there by way of the supervisor.
class PrivateHostFolder {
 public:
  PrivateHostFolder() {
    path_ = fs::temp_directory_path() / "agon-abuse-host-XXXXXX";
    if (!mkdtemp(path_.data())) throw Error("abuse: no folder {}: {}", path_, std::strerror(errno));
    fs::permissions(path_, fs::perms(0777));
    std::ofstream(path_ + "/file") << kSecret;
    fs::permissions(path_ + "/file", fs::perms(0644));
    fs::create_directory(path_ + "/numbered");
    fs::permissions(path_ + "/numbered", fs::perms(0777));
    for (int i = 1; i <= 40; ++i) {
      const std::string inner = fmt::format("{}/numbered/{}", path_, i);
      fs::create_directory(inner);
      fs::permissions(inner, fs::perms(0777));
      std::ofstream(inner + "/file") << kSecret;
    }
    before_ = state_of(path_);
  }
  ~PrivateHostFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }
  std::vector<std::string> faults() const {
    std::vector<std::string> found;
    const auto now = state_of(path_);
    for (const auto& [path, state] : before_)
      if (!now.contains(path))
        found.push_back("the host's " + path + " is gone");
      else if (now.at(path) != state)
        found.push_back(fmt::format("the host's {} was changed: {}, before {}", path, now.at(path), state));
    for (const auto& [path, state] : now)
      if (!before_.contains(path)) found.push_back("the host has a new " + path);
    return found;
  }

 private:
  std::string path_;
  std::map<std::string, std::string> before_;
};

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// A process and all that it started.
std::vector<std::string> process_tree(const std::string& process) {
  std::vector<std::string> all = {process};
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::error_code gone;
    fs::directory_iterator task("/proc/" + all[i] + "/task", gone);
    for (; !gone && task != fs::directory_iterator(); task.increment(gone))
      for (const std::string& child : split_words(text_of(task->path() / "children"))) all.push_back(child);
  }
  return all;
}

double bytes_in(const std::string& status, const std::string& name) {
  const std::size_t found = status.find("\n" + name + ":");
  return found == std::string::npos ? 0 : 1024 * std::atof(status.c_str() + found + name.size() + 2);
}

// Bytes of memory that the processes of a launcher have, each page as often as it has owners.
double memory_of(const std::string& launcher) {
  double bytes = 0;
  for (const std::string& process : process_tree(launcher)) {
    const std::string status = text_of("/proc/" + process + "/status");
    bytes += bytes_in(status, "RssAnon") + bytes_in(status, "RssShmem");
  }
  return bytes;
}

// Seconds of CPU time that the living processes of a launcher have used.
double cpu_of(const std::string& launcher) {
  double ticks = 0;
  for (const std::string& process : process_tree(launcher)) {
    const std::string stat = text_of("/proc/" + process + "/stat");
    const std::vector<std::string> fields = split_words(stat.substr(std::min(stat.size(), stat.rfind(')') + 1)));
    if (fields.size() > 12) ticks += std::atof(fields[11].c_str()) + std::atof(fields[12].c_str());
  }
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

// Bytes on disk of the folder that a launcher holds locked (tier C).
double disk_of(const std::string& launcher) {
  double bytes = 0;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator("/proc/" + launcher + "/fd", gone)) {
    const fs::path path = fs::read_symlink(entry.path(), gone);
    if (!path.string().starts_with("/tmp/agon-sandbox-")) continue;
    std::set<ino_t> seen;
    fs::recursive_directory_iterator at(path, fs::directory_options::skip_permission_denied, gone);
    for (; at != fs::recursive_directory_iterator(); at.increment(gone)) {
      struct stat status {};
      if (lstat(at->path().c_str(), &status) == 0 && seen.insert(status.st_ino).second)
        bytes += 512.0 * static_cast<double>(status.st_blocks);
    }
  }
  return bytes;
}

// Whether a process of the launcher has a descriptor that this program had open, and was not told of.
bool has_canary_open(const std::string& launcher) {
  std::error_code gone;
  for (const std::string& process : process_tree(launcher)) {
    fs::directory_iterator at("/proc/" + process + "/fd", gone);
    for (; !gone && at != fs::directory_iterator(); at.increment(gone))
      if (fs::read_symlink(at->path(), gone).string().starts_with(kCanary)) return true;
  }
  return false;
}

// The highest value that a figure takes while this lives.
class Highest {
 public:
  explicit Highest(std::function<double()> measure) : measure_(std::move(measure)), first_(measure_()) {
    thread_ = std::thread([this] {
      for (; !done_; std::this_thread::sleep_for(std::chrono::milliseconds(5)))
        highest_ = std::max(highest_, measure_() - first_);
    });
  }
  double end() {
    done_ = true;
    if (thread_.joinable()) thread_.join();
    return highest_;
  }
  ~Highest() { end(); }

 private:
  std::function<double()> measure_;
  double first_, highest_ = 0;
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

// Another session of the same launcher that works on: how long its calls take, and opens of further ones.
class Neighbour {
 public:
  explicit Neighbour(Sandbox& sandbox) : sandbox_(sandbox), session_(sandbox.open()) {}
  void start() {
    done_ = false;
    calls_.clear();
    opens_.clear();
    thread_ = std::thread([this] { work(); });
  }
  void stop() {
    done_ = true;
    thread_.join();
  }
  double slow_call() { return at_99(calls_); }  // milliseconds, of 99 in 100
  double slow_open() { return at_99(opens_); }
  std::string fault;

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr double kEvery = 5, kOpenEvery = 100;  // milliseconds

  static double at_99(std::vector<double>& times) {
    std::sort(times.begin(), times.end());
    return times.empty() ? 0 : times[static_cast<std::size_t>(0.99 * static_cast<double>(times.size() - 1))];
  }
  // Calls that would have been made while one was under way waited too.
  static void add(std::vector<double>& times, double took, double every) {
    for (; took > 0; took -= every) times.push_back(took);
  }
  template <typename Work>
  static double milliseconds_of(const Work& work) {
    const auto start = Clock::now();
    work();
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  }
  void work() try {
    for (int i = 0; !done_; ++i) {
      Result result;
      add(calls_, milliseconds_of([&] { result = session_.run({.code = "1 + 1", .name = "a.py", .artifacts = {}}); }),
          kEvery);
      if (!result.ok()) fault = fmt::format("its call ended with {} ({})", to_string(result.reason), result.text);
      if (i % 20 == 10) {
        std::optional<Session> session;
        add(opens_, milliseconds_of([&] { session.emplace(sandbox_.open()); }), kOpenEvery);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(static_cast<int>(kEvery)));
    }
  } catch (const Error& error) {
    fault = error.what();
  }

  Sandbox& sandbox_;
  Session session_;
  std::vector<double> calls_, opens_;
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

// What every case finds on the host, and what must be as it was afterwards.
class Host {
 public:
  Host() {
    if (fs::create_directories(kCanary)) fs::permissions(kCanary, fs::perms::all);
    if (!fs::exists(secret())) std::ofstream(secret()) << kSecret;  // cases run as root and as others, side by side
    // What the program that starts a launcher has open without care: a launcher inherits neither.
    for (const std::string& path : {secret(), std::string(kCanary)})
      descriptors_.push_back(open(path.c_str(), O_RDONLY));
    setenv("AGON_ABUSE_SECRET", kSecret, 1);
    listen_on_port();
    listen_on_name();
    settings_ = settings();
  }
  ~Host() {
    for (const int socket : sockets_) close(socket);
    for (const int descriptor : descriptors_) close(descriptor);
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
        const std::string text = text_of(entry.path() / part);  // of one that is gone it is empty
        if (text.starts_with("agon-abuse") || text.find(std::string(1, '\0') + "agon-abuse") != std::string::npos)
          found.push_back(entry.path().filename());
      }
    }
    return found;
  }

  std::vector<int> sockets_, descriptors_;
  std::string settings_;
};

// How many times longer a neighbour's calls may take where others use this machine too (tests/CMakeLists.txt).
double neighbour_slack() {
  const char* factor = std::getenv("AGON_NEIGHBOUR_SLACK");
  return factor ? std::max(1.0, std::atof(factor)) : 1;
}

class Run {
 public:
  Run(const Case& abuse, const SandboxConfig& config, double slower)
      : abuse_(abuse),
        config_(config),
        slower_(slower),
        sandbox_(config),
        launcher_(std::to_string(sandbox_.process())) {}

  std::vector<std::string> faults() {
    if (abuse_.uses_host) host_.emplace();
    Highest disk([this] { return abuse_.on_disk ? disk_of(launcher_) : 0; });
    Highest memory([this] { return abuse_.in_memory ? memory_of(launcher_) : 0; });
    if (std::any_of(abuse_.steps.begin(), abuse_.steps.end(),
                    [](const Step& step) { return step.neighbour.has_value(); }))
      neighbour_.emplace(sandbox_);
    sessions_.push_back(sandbox_.open(abuse_.limits));
    if (has_canary_open(launcher_)) fault("a descriptor of the host is open in the sandbox");
    for (const Step& step : abuse_.steps) {
      step.neighbour ? play_beside_neighbour(step) : play(step);
      look_at_host();
    }
    sessions_.clear();
    if (const double most = disk.end(); most > abuse_.on_disk.value_or(most))
      fault(fmt::format("there were {:.0f} MB on the host's disk", most / (1 << 20)));
    if (const double most = memory.end(); most > abuse_.in_memory.value_or(most))
      fault(fmt::format("it took {:.0f} MB of memory", most / (1 << 20)));
    Session next = sandbox_.open();
    if (const Result result = next.run({.code = "print(1 + 1)", .name = "next.py", .artifacts = {}});
        result.out != "2\n")
      fault(fmt::format("the next job printed '{}' ({}: {})", result.out, to_string(result.reason), result.text));
    look_at_host();
    return faults_;
  }

 private:
  void fault(const std::string& what) { faults_.push_back(what); }

  void look_at_host() {
    for (const std::string& what : host_ ? host_->faults() : std::vector<std::string>())
      if (std::find(faults_.begin(), faults_.end(), what) == faults_.end()) fault(what);
  }

  void play_beside_neighbour(const Step& step) {
    neighbour_->start();
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    neighbour_->stop();
    const double call = neighbour_->slow_call(), open = neighbour_->slow_open();
    neighbour_->start();
    play(step);
    neighbour_->stop();
    const double most = *step.neighbour * slower_ * neighbour_slack(), slow_call = neighbour_->slow_call(),
                 slow_open = neighbour_->slow_open();
    fmt::print(
        "    meanwhile 99 in 100 calls of its neighbour took {:.1f} ms (before {:.1f}), opens {:.0f} ms (before "
        "{:.0f})\n",
        slow_call, call, slow_open, open);
    if (slow_call > most + call)
      fault(fmt::format("calls of its neighbour took {:.1f} ms, {:.1f} ms before", slow_call, call));
    if (slow_open > 10 * most + open)
      fault(fmt::format("opens beside it took {:.0f} ms, {:.0f} ms before", slow_open, open));
    if (!neighbour_->fault.empty()) fault("of its neighbour: " + neighbour_->fault);
  }

  void play(const Step& step) {
    if (step.kind == "close") return close_session();
    if (step.kind == "rest") return rest();
    if (step.kind == "close first") return close_first();
    if (step.kind == "refused fork") return refused_fork(step);
    if (step.kind == "tried fork") return tried_fork(step);
    if (step.kind == "forks of forks") return forks_of_forks(step);
    if (step.kind == "other session")
      at_ = add(sandbox_.open(abuse_.limits));
    else if (step.kind == "other launcher")
      at_ = add(others_.emplace_back(std::make_unique<Sandbox>(config_))->open(abuse_.limits));
    else if (step.kind == "fork")
      at_ = add(sessions_.front().fork());
    else if (step.kind == "back")
      at_ = 0;
    for (int i = 0; i < step.count; ++i) {
      if (i > 0) at_ = add(sandbox_.open(abuse_.limits));
      for (int k = 0; k < step.times; ++k) call(step);
    }
  }

  void call(const Step& step) {
    std::string code = step.code;
    for (std::size_t at; host_ && (at = code.find(kHostFolder)) != std::string::npos;)
      code.replace(at, std::string_view(kHostFolder).size(), host_->path());
    const auto start = std::chrono::steady_clock::now();
    const Result result = sessions_[at_].run(
        {.code = code, .name = "abuse.py", .artifacts = abuse_.artifacts, .pictures = abuse_.artifacts.empty()});
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    fmt::print("--- {} {} in {:.2f} s, {:.2f} s of CPU, {:.1f} MB: {}\n{}{}", step.kind, to_string(result.reason),
               seconds, result.cpu_s, static_cast<double>(result.peak_memory) / (1 << 20), result.text, result.out,
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
    check_text(step, result.text);
    if (seconds > abuse_.limits.wall + 1) fault(fmt::format("it took {:.2f} s", seconds));
    if (abuse_.dropped && &step == &abuse_.steps.front() && result.dropped_bytes == 0) fault("nothing was dropped");
    if (!abuse_.artifacts.empty() && result.artifacts.size() != abuse_.pictures)
      fault(fmt::format("{} pictures came out", result.artifacts.size()));
    if (result.tier != sandbox_.tier()) fault("the result carries another tier");
    if (step.cpu && (result.cpu_s < step.cpu->least || result.cpu_s > step.cpu->most * slower_))
      fault(fmt::format("it says that it used {:.2f} s of CPU time", result.cpu_s));
    const auto peak = static_cast<double>(result.peak_memory);
    if (step.peak && (peak < step.peak->least || peak > step.peak->most))
      fault(fmt::format("it says that it used {:.1f} MB of memory", peak / (1 << 20)));
    if (step.same_as != 0 && result.out != outputs_.at(step.same_as - 1))
      fault("it printed something else than before");
    if (step.unlike != 0 && result.out == outputs_.at(step.unlike - 1)) fault("it printed the same as before");
    outputs_.push_back(result.out);
  }

  void check_text(const Step& step, const std::string& text) {
    if (text.find(step.text) == std::string::npos) fault(fmt::format("it said '{}', not '{}'", text, step.text));
  }

  // The newest session, but for the first.
  void close_session() {
    if (sessions_.size() > 1) sessions_.pop_back();
    at_ = 0;
  }

  // What it was forked to lives on.
  void close_first() {
    { const Session closed = std::move(sessions_.front()); }
    sessions_.erase(sessions_.begin());
    at_ = 0;
  }

  // Nobody asks for anything: the sandbox is at rest.
  void rest() {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    const double before = cpu_of(launcher_);
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    const double used = cpu_of(launcher_) - before;
    fmt::print("--- rest: {:.2f} s of CPU in 1.5 s\n", used);
    if (used > 0.075) fault(fmt::format("at rest the sandbox used {:.2f} s of CPU time in 1.5 s", used));
  }

  // Forks that may be refused; all but the last are closed.
  void tried_fork(const Step& step) {
    for (int i = 0; i < step.count; ++i) {
      if (i > 0) close_session();
      try {
        at_ = add(sessions_.front().fork());
        call(step);
      } catch (const Error& error) {
        fmt::print("--- tried fork: {}\n", error.what());
        at_ = 0;
      }
    }
  }

  void refused_fork(const Step& step) {
    try {
      add(sessions_.front().fork());
      fault("the fork was not refused");
    } catch (const Error& error) {
      fmt::print("--- refused fork: {}\n", error.what());
      check_text(step, error.what());
    }
  }

  // At least step.count.
  void forks_of_forks(const Step& step) {
    int depth = 0;
    try {
      Step inner = step;
      inner.text.clear();
      for (at_ = 0; depth < 100; ++depth) {
        at_ = add(sessions_.at(at_).fork());
        call(inner);
      }
      fault("a hundred forks in a row were made");
    } catch (const Error& error) {
      fmt::print("--- after {} forks: {}\n", depth, error.what());
      check_text(step, error.what());
    }
    if (depth < step.count) fault(fmt::format("it was forked {} times in a row", depth));
  }

  std::size_t add(Session session) {
    sessions_.push_back(std::move(session));
    return sessions_.size() - 1;
  }

  const Case& abuse_;
  const SandboxConfig& config_;
  double slower_;
  Sandbox sandbox_;
  std::string launcher_;
  std::optional<PrivateHostFolder> host_;
  std::optional<Neighbour> neighbour_;
  std::vector<std::unique_ptr<Sandbox>> others_;
  std::vector<Session> sessions_;
  std::vector<std::string> outputs_;
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

int run_case(const Case& abuse, Tier tier, Backend backend, const LauncherCopy& launcher, double slower) {
  const Host host;
  std::vector<std::string> faults;
  {
    SandboxConfig config;
    config.floor = config.best = tier;
    config.launcher = launcher.path();
    config.backend = backend;
    faults = Run(abuse, config, slower).faults();
  }
  for (const std::string& fault : host.faults(abuse.names_processes)) faults.push_back(fault);
  for (const std::string& fault : faults) fmt::print("FAILED: {}\n", fault);
  return faults.empty() ? 0 : 1;
}

int run_in_cgroup(const Case& abuse, const LauncherCopy& launcher, std::optional<uid_t> user, double slower) {
  const DelegatedCgroup cgroup(user.value_or(geteuid()));
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    cgroup.enter();
    int code = kRuledOut;
    try {
      if (become(user)) code = run_case(abuse, Tier::a, Backend::native, launcher, slower);
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
  if (tier == "A") return run_in_cgroup(abuse, launcher, user, slower);
  return become(user) ? run_case(abuse, tier_from(tier), backend, launcher, slower) : kRuledOut;
}

}  // namespace

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
    return run(arguments[1], arguments[2],
               count > 3 ? std::optional(static_cast<uid_t>(std::atoi(arguments[3]))) : std::nullopt,
               count > 4 ? std::atof(arguments[4]) : 1);
  } catch (const std::exception& error) {
    fmt::print("FAILED: {}\n", error.what());
    return 1;
  }
}
