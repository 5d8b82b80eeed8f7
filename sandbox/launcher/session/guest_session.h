// sandbox/launcher/session/guest_session.h - one session: an interpreter and all that it started, from its making to
// its end. Belongs to the supervisor's one thread; nothing here blocks on a guest, and nothing takes long.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/descriptor.h"
#include "sandbox/call_request.h"
#include "sandbox/launcher/isolation/cgroup.h"
#include "sandbox/launcher/isolation/isolation.h"
#include "sandbox/launcher/isolation/private_root.h"
#include "sandbox/launcher/session/allowance.h"
#include "sandbox/launcher/session/artifacts.h"
#include "sandbox/launcher/session/files_watch.h"
#include "sandbox/launcher/session/guest_channel.h"
#include "sandbox/launcher/session/guest_protocol.h"
#include "sandbox/launcher/session/home_folder.h"
#include "sandbox/launcher/session/init_process.h"
#include "sandbox/launcher/session/output_buffer.h"
#include "sandbox/launcher/session/session_end.h"
#include "sandbox/launcher/session/session_files.h"
#include "sandbox/launcher/session/surroundings.h"
#include "sandbox/launcher/session/usage_watch.h"
#include "sandbox/launcher/supervisor/errand.h"
#include "sandbox/launcher/supervisor/usage.h"
#include "sandbox/limits.h"
#include "sandbox/result.h"

namespace agon::sandbox::launcher {

// A call under way.
struct Call {
  CallRequest request;
  Clock::time_point start, answered_at, interrupted_at;
  double wall = 0, cpu_before = 0;  // seconds: what it may take; used by the session before it
  std::int64_t peak_before = 0, kills_before = 0, refusals_before = 0;  // of the cgroup
  OutputBuffer out, err;
  bool answered = false;
  CodeOutcome outcome = CodeOutcome::ok;
  std::string text;
  std::optional<Reason> interrupted;
  std::int64_t peak = 0, seen = 0;  // bytes of memory; seen: at the looks, with what is perhaps shared
};

class GuestSession {
 public:
  enum class State {
    making,    // its namespaces, or the copy of its files
    starting,  // its interpreter
    ready,
    busy,
    dead
  };
  using End = SessionEnd;

  // The descriptors of the new session, whose other ends go to the process that it is forked from.
  struct GuestEnds {
    Descriptor channel, out, err;
  };
  // parent: the session it is forked from, none: the template. Begins to make its cgroup, namespaces and files, as the
  // walls go; throws std::system_error.
  GuestSession(int id, const GuestSession* parent, Limits limits, const Surroundings& surroundings);
  // Of what is under way, to be polled; -1: nothing. on_progress(): true once all is made and the interpreter can be
  // forked.
  int progress() const;
  bool on_progress();
  GuestEnds make_ends();  // and waits for the interpreter
  // For it to enter. REQUIRES: starting, and that there are namespaces.
  const FirstProcess::Namespaces& namespaces() const { return namespaces_; }

  int id() const { return id_; }
  int parent() const { return parent_; }  // 0: none, the template
  State state() const { return state_; }
  const Limits& limits() const { return limits_; }
  const FirstProcess& first() const { return first_; }  // without a process where there are no namespaces
  const std::optional<HomeFolder>& folder() const { return folder_; }
  Folder home() const { return folder_ ? folder_->files() : first_.home(); }         // throws std::system_error
  std::string home_path() const { return folder_ ? folder_->files_path() : kHome; }  // as the session calls it
  bool is_gone() const;  // no process of it is left, once killed
  GuestChannel& channel() { return channel_; }
  int out() const { return out_.get(); }
  int err() const { return err_.get(); }
  bool is_closed() const { return closed_at_.has_value(); }  // the channel: there is nothing to poll
  const End& end() const { return *end_; }                   // REQUIRES: dead

  // Whether this is the process that said that it would enter the session's namespaces; it may until it says that it
  // has.
  bool may_enter(pid_t process) const { return state_ == State::starting && process != 0 && process == entering_; }
  // Whether it has no other process now.
  bool runs_nothing_but(pid_t process) const;
  // Whether this is the session's interpreter, which is not ready yet.
  bool is_confining(pid_t process) const {
    return state_ == State::starting && process != 0 && process == interpreter_;
  }
  bool has_interpreter(pid_t process) const { return process != 0 && process == interpreter_; }
  void on_first_ended();
  // The interpreter has ended; seen by its reaper, `reaper`: 0 for the supervisor, else the process id of the first
  // process that says so.
  void on_reaped(pid_t reaper, const Report& report);
  // Another process of it has ended with this process as its parent: seconds of CPU time.
  void on_orphan_reaped(double seconds) { usage_watch_.on_orphan_reaped(seconds); }
  bool may_lock() { return allowance_.may_lock(); }  // one more file lock in this call
  // One more watch of an epoll: as many as a session may ever add.
  bool may_watch() { return allowance_.may_watch(); }
  // Whether a process of it may start a session of the kernel's (setsid) now: its interpreter, and three more at a
  // time.
  bool may_lead(pid_t process) { return is_confining(process) || allowance_.may_lead(process); }

  // Takes some of what the channel holds. Sets the state; a call's end is handed out by take_result().
  void on_channel();
  void on_output();
  // The interpreter is asked for a fork, and what came of those, in their order: empty, or why not.
  void expect_fork_answer() { ++forks_asked_; }
  std::vector<std::string> take_fork_answers() { return std::exchange(fork_answers_, {}); }

  void seed(std::uint64_t seed);
  // A file of the workspace; take_write() says what came of it. Throws std::system_error. Code that is at work may hold
  // the file's lock, and an errand waits for it.
  void write(const std::string& name, const std::string& bytes);
  std::optional<Errand::Outcome> take_write();
  void start(CallRequest request);
  // Holds the session to its limits and notices its end: to be called often (see `wait`).
  void watch();
  std::chrono::milliseconds wait() const;  // until the next watch at the latest
  std::optional<Result> take_result();     // without the artifacts' bytes:
  std::vector<OpenFile> take_files() { return artifacts_.take(); }
  Result result_of_end() const;  // of a call that came too late. REQUIRES: dead

  // Ends the session's processes. While sessions that were forked from it live (has_forks), its first process stays for
  // them: call again when they are gone.
  void kill(bool has_forks);
  bool has_stragglers();  // of one that was killed: now and then, whether there are processes again
  void end(Reason reason, std::string why);
  void close_descriptors();  // of one that is dead
  // Of a session that has no process left, and no forks: takes its files out of the reach of others, and removes them,
  // which may take several calls. True once that is done.
  bool remove_files();

 private:
  bool on_frame(pid_t sender, std::string_view payload);
  void on_starting_frame(pid_t sender, char kind, std::string_view payload);
  void on_answer(std::string_view payload);
  void on_exit(int status);
  void on_entered(pid_t process);
  void on_ready();
  void hold(pid_t process, const ProcessStatus& status);
  bool is_inside(pid_t process) const;
  void kill_all();
  void watch_call();
  void watch_answered();
  void watch_start();
  void watch_idle();
  void check_use();
  void check_cgroup();
  void check_files();
  void interrupt(Reason reason, std::string text);
  void finish(Reason reason, std::string text, bool alive);
  void finish_answered();
  void drain();
  std::optional<End> met_limit() const;
  std::int64_t measured_peak();
  bool waits_for_request() const;
  bool is_alone() const;

  int id_, parent_;
  pid_t parent_first_ = 0;  // the first process of the session it is forked from
  Limits limits_;
  const Surroundings& surroundings_;  // outlive it
  State state_ = State::making;
  bool has_run_;  // code of the guest, in it or in what it is forked from
  GuestChannel channel_;
  Descriptor out_, err_;
  std::unique_ptr<SessionCgroup> cgroup_;  // where the kernel keeps the limits
  std::optional<HomeFolder> folder_;       // where there are no namespaces; else the first process
  FirstProcess first_;
  FirstProcess::Namespaces namespaces_;  // while it is starting
  Errand making_;                        // the copy of the files
  pid_t entering_ = 0, interpreter_ = 0;
  Descriptor entering_process_;  // what forks the interpreter, until that is there
  pid_t reaper_ = 0;             // first process that will reap the interpreter; 0: we will
  pid_t reaped_as_ = 0;          // the interpreter, as its reaper sees it
  bool reaped_ = false;
  std::optional<Clock::time_point> closed_at_;  // its channel
  std::optional<Call> call_;
  UsageWatch usage_watch_;
  FilesWatch files_watch_;
  Errand writing_;
  std::optional<Errand::Outcome> written_;
  Clock::time_point next_look_, entered_at_;
  double idle_cpu_ = 0;  // seconds used when the last call ended
  Allowance allowance_;
  int forks_asked_ = 0;  // and not answered
  std::vector<std::string> fork_answers_;
  std::optional<Result> result_;
  Artifacts artifacts_;
  std::optional<End> end_;
  Errand removing_;
  bool removed_ = false;
};

}  // namespace agon::sandbox::launcher
