#include "tests/sandbox/abuse_runner/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "core/error.h"
#include "tests/sandbox/abuse_runner/highest.h"
#include "tests/sandbox/abuse_runner/host.h"
#include "tests/sandbox/abuse_runner/host_folder.h"
#include "tests/sandbox/abuse_runner/launcher_processes.h"
#include "tests/sandbox/abuse_runner/neighbour.h"

namespace agon::sandbox::abuse {
namespace {

constexpr double kMostAtRest = 0.05;  // of one CPU

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
    play_all();
    sessions_.clear();
    if (const double most = disk.end(); most > abuse_.on_disk.value_or(most))
      fault(fmt::format("there were {:.0f} MB on the host's disk", most / (1 << 20)));
    if (const double most = memory.end(); most > abuse_.in_memory.value_or(most))
      fault(fmt::format("it took {:.0f} MB of memory", most / (1 << 20)));
    run_next_job();
    look_at_host();
    return faults_;
  }

 private:
  void fault(const std::string& what) { faults_.push_back(what); }

  void play_all() {
    if (std::any_of(abuse_.steps.begin(), abuse_.steps.end(),
                    [](const Step& step) { return step.neighbour.has_value(); }))
      neighbour_.emplace(sandbox_);
    sessions_.push_back(sandbox_.open(abuse_.limits));
    if (has_canary_open(launcher_)) fault("a descriptor of the host is open in the sandbox");
    for (const Step& step : abuse_.steps) {
      step.neighbour ? play_beside_neighbour(step) : play(step);
      look_at_host();
    }
  }

  void run_next_job() {
    Session next = sandbox_.open();
    if (const Result result = next.run({.code = "print(1 + 1)", .name = "next.py", .artifacts = {}});
        result.out != "2\n")
      fault(fmt::format("the next job printed '{}' ({}: {})", result.out, to_string(result.reason), result.text));
  }

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
    check_said(step, result);
    if (seconds > abuse_.limits.wall + 1) fault(fmt::format("it took {:.2f} s", seconds));
    check_brought(step, result);
    check_use(step, result);
    check_outputs(step, result.out);
  }

  void check_said(const Step& step, const Result& result) {
    const std::string reason(to_string(result.reason));
    if (std::find(step.reasons.begin(), step.reasons.end(), reason) == step.reasons.end())
      fault(fmt::format("it ended with {} ({})", reason, result.text));
    if (result.out.find("ESCAPED") != std::string::npos || result.err.find("ESCAPED") != std::string::npos)
      fault("it says that it escaped");
    if (result.out.find(kSecret) != std::string::npos) fault("it printed the secret");
    if (!step.output.empty() && result.out.find(step.output) == std::string::npos)
      fault("it did not print '" + step.output + "'");
    check_text(step, result.text);
  }

  void check_brought(const Step& step, const Result& result) {
    if (abuse_.dropped && &step == &abuse_.steps.front() && result.dropped_bytes == 0) fault("nothing was dropped");
    if (!abuse_.artifacts.empty() && result.artifacts.size() != abuse_.pictures)
      fault(fmt::format("{} pictures came out", result.artifacts.size()));
    if (result.tier != sandbox_.tier()) fault("the result carries another tier");
  }

  void check_use(const Step& step, const Result& result) {
    if (step.cpu && (result.cpu_s < step.cpu->least || result.cpu_s > step.cpu->most * slower_))
      fault(fmt::format("it says that it used {:.2f} s of CPU time", result.cpu_s));
    const auto peak = static_cast<double>(result.peak_memory);
    if (step.peak && (peak < step.peak->least || peak > step.peak->most))
      fault(fmt::format("it says that it used {:.1f} MB of memory", peak / (1 << 20)));
  }

  void check_outputs(const Step& step, const std::string& output) {
    if (step.same_as != 0 && output != outputs_.at(step.same_as - 1)) fault("it printed something else than before");
    if (step.unlike != 0 && output == outputs_.at(step.unlike - 1)) fault("it printed the same as before");
    outputs_.push_back(output);
  }

  void check_text(const Step& step, const std::string& text) {
    if (text.find(step.text) == std::string::npos) fault(fmt::format("it said '{}', not '{}'", text, step.text));
  }

  // Closes the newest session, but never the first.
  void close_session() {
    if (sessions_.size() > 1) sessions_.pop_back();
    at_ = 0;
  }

  // Closes the first session; its forks stay alive.
  void close_first() {
    { const Session closed = std::move(sessions_.front()); }
    sessions_.erase(sessions_.begin());
    at_ = 0;
  }

  // With no call in progress the sandbox is at rest. It may still measure memory now and then, so a window with too
  // much CPU time is followed by a longer one, and the share of both counts.
  void rest() {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    const double before = cpu_of(launcher_);
    double rested = 0, used = 0;  // seconds
    for (const double seconds : {1.5, 4.5}) {
      std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
      rested += seconds;
      used = cpu_of(launcher_) - before;
      fmt::print("--- rest: {:.2f} s of CPU in {} s\n", used, rested);
      if (used <= kMostAtRest * rested) return;
    }
    fault(fmt::format("at rest the sandbox used {:.2f} s of CPU time in {} s", used, rested));
  }

  // Makes forks that may be refused; closes all but the last.
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

  // Forks each fork again until one is refused; at least step.count must succeed.
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

}  // namespace

std::vector<std::string> faults_of(const Case& abuse, const SandboxConfig& config, double slower) {
  return Run(abuse, config, slower).faults();
}

}  // namespace agon::sandbox::abuse
