// sandbox/launcher/session.h - one session: an interpreter and all that it started, from its making to its end. Belongs
// to the supervisor's one thread; nothing here blocks on a guest.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/call_request.h"
#include "sandbox/launcher/cgroup.h"
#include "sandbox/launcher/descriptor.h"
#include "sandbox/launcher/first_process.h"
#include "sandbox/launcher/guest_channel.h"
#include "sandbox/launcher/guest_protocol.h"
#include "sandbox/launcher/home_folder.h"
#include "sandbox/launcher/output_buffer.h"
#include "sandbox/launcher/private_root.h"
#include "sandbox/launcher/session_files.h"
#include "sandbox/launcher/tiers.h"
#include "sandbox/limits.h"
#include "sandbox/result.h"

namespace agon::sandbox::launcher {

using Clock = std::chrono::steady_clock;

// A call under way.
struct Call {
  CallRequest request;
  Clock::time_point start, answered_at, interrupted_at;
  double wall = 0, cpu_before = 0;  // seconds: what it may take; used by the session before it
  std::int64_t peak_before = 0, kills_before = 0, refusals_before = 0;  // of the cgroup
  Clock::time_point files_at;                                           // the last look at them
  std::map<std::string, FileState> pictures;                            // before it
  OutputBuffer out, err;
  bool answered = false;
  Outcome outcome = Outcome::ok;
  std::string text;
  std::optional<Reason> interrupted;
  std::int64_t peak = 0;
};

class Session {
 public:
  enum class State { starting, ready, busy, dead };

  // The descriptors of the new session, whose other ends go to the process that it is forked from.
  struct GuestEnds {
    Descriptor channel, out, err;
  };
  // parent: the session it is forked from, none: the template. is_other: whether a process belongs to another session;
  // the tree of this one ends there. Makes its cgroup, namespaces and files, as the walls go; throws std::system_error.
  Session(int id, const Session* parent, Limits limits, const Walls& walls, std::function<bool(pid_t)> is_other);
  GuestEnds make_ends();

  int id() const { return id_; }
  int parent() const { return parent_; }  // 0: none, the template
  State state() const { return state_; }
  const Limits& limits() const { return limits_; }
  const FirstProcess& first() const { return first_; }  // without a process where there are no namespaces
  const Descriptor& first_end() const { return first_end_; }
  const Descriptor& home() const { return folder_ ? folder_->descriptor() : first_.home; }
  std::string home_path() const { return folder_ ? folder_->path() : kHome; }  // as the session calls it
  bool is_gone() const;                                                        // no process of it is left, once killed
  // Whether the process is of those that are the session's own from its making: what they start belongs to it.
  bool owns(pid_t process) const { return process != 0 && (process == first_.process || process == interpreter_); }
  GuestChannel& channel() { return channel_; }
  int out() const { return out_.get(); }
  int err() const { return err_.get(); }
  bool is_closed() const { return closed_at_.has_value(); }  // the channel: there is nothing to poll
  const std::string& failure() const { return failure_; }

  // Whether this is the process that said that it would enter the session's namespaces; it may until it says that it
  // has.
  bool may_enter(pid_t process) const { return state_ == State::starting && process != 0 && process == entering_; }
  // A process has ended, as its reaper saw it: `reaper` is 0 for the supervisor, else the session whose first process
  // it was.
  void on_reaped(int reaper, const Report& report);

  // Takes what the channel holds. Sets the state; a call's end is handed out by finished().
  void on_channel();
  void on_output();

  void write(const std::string& name, const std::string& bytes);  // a file of the workspace; throws std::system_error
  void start(CallRequest request);
  // Holds the call to its limits and notices its end: to be called often while busy (see `wait`).
  void watch();
  std::chrono::milliseconds wait() const;  // until the next watch at the latest
  std::optional<Result> take_result();

  // Ends the session's processes. While sessions that were forked from it live (has_forks), its first process stays for
  // them: call again when they are gone.
  void kill(bool has_forks);
  void lose(std::string why);  // the machinery failed

 private:
  void on_frame(pid_t sender, std::string_view payload);
  void on_answer(std::string_view payload);
  void on_exit(int status);
  void on_entered(pid_t process);
  void hold(pid_t process);
  bool is_inside(pid_t process) const;
  void set_rlimits(pid_t process) const;
  void kill_tree();
  std::vector<pid_t> processes() const;
  void fail(std::string why);
  void check_use();
  void check_cgroup();
  void check_processes();
  void watch_idle();
  std::optional<std::pair<Reason, std::string>> exceeded(std::int64_t& memory) const;
  void check_files();
  void interrupt(Reason reason, std::string text);
  void finish(Reason reason, std::string text, bool alive);
  void finish_answered();
  void drain();
  void collect(Result& result) const;
  std::map<std::string, FileState> pictures() const;
  double used_cpu() const;
  bool has_too_many_files() const;
  std::optional<std::pair<Reason, std::string>> met_limit() const;
  std::int64_t measured_peak() const;
  bool waits_for_request() const;

  int id_, parent_;
  Limits limits_;
  const Walls& walls_;  // outlives it
  State state_ = State::starting;
  GuestChannel channel_;
  Descriptor out_, err_;
  std::unique_ptr<SessionCgroup> cgroup_;  // where the kernel keeps the limits
  std::unique_ptr<HomeFolder> folder_;     // where there are no namespaces; else the first process
  FirstProcess first_;
  Descriptor first_end_;  // readable once the first process has ended
  pid_t entering_ = 0, interpreter_ = 0;
  int reaper_ = 0;       // session whose first process will reap the interpreter; 0: we will
  pid_t reaped_as_ = 0;  // the interpreter, as its reaper sees it
  bool reaped_ = false;
  std::int64_t base_memory_ = 0;                // bytes that the fresh interpreter shares with the template
  std::optional<Clock::time_point> closed_at_;  // its channel
  std::function<bool(pid_t)> is_other_;
  std::optional<Call> call_;
  // Once a call has ended: when to look at what goes on without one, and the CPU time used till then.
  std::optional<Clock::time_point> idle_look_;
  double idle_cpu_ = 0;
  std::optional<Result> result_;
  std::string failure_;
};

}  // namespace agon::sandbox::launcher
