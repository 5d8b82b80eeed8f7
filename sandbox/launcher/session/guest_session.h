// sandbox/launcher/session/guest_session.h - one session: an interpreter and everything that it started, from the
// session's creation to its end. It belongs to the supervisor's one thread: nothing here blocks on a guest or takes
// long.
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

// A call that is running.
struct Call {
  CallRequest request;
  Clock::time_point start, answered_at, interrupted_at;
  double wall = 0, cpu_before = 0;  // seconds: the limit; used by the session before the call
  std::int64_t peak_before = 0, kills_before = 0, refusals_before = 0;  // of the cgroup, at its start
  OutputBuffer out, err;
  bool answered = false;
  CodeOutcome outcome = CodeOutcome::ok;
  std::string text;
  std::optional<Reason> interrupted;
  std::int64_t peak = 0, seen = 0;  // bytes of memory; seen: by looks, perhaps with pages counted twice
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

  // The guest's ends of the new session's descriptors, which are sent to the process that it is forked from.
  struct GuestEnds {
    Descriptor channel, out, err;
  };
  // parent: the session it is forked from; null: the template. Starts making its cgroup, namespaces and files, as the
  // tier requires; throws std::system_error.
  GuestSession(int id, const GuestSession* parent, Limits limits, const Surroundings& surroundings);
  // progress(): a descriptor to poll while it is being made; else -1. on_progress(): true once everything is made and
  // the interpreter can be forked.
  int progress() const;
  bool on_progress();
  GuestEnds make_ends();  // and starts waiting for the interpreter
  // The namespaces that the interpreter enters. REQUIRES: starting, and a tier with namespaces.
  const InitProcess::Namespaces& namespaces() const { return namespaces_; }

  int id() const { return id_; }
  int parent() const { return parent_; }  // 0: the template
  State state() const { return state_; }
  const Limits& limits() const { return limits_; }
  const InitProcess& init() const { return init_; }  // without a process if there are no namespaces
  const std::optional<HomeFolder>& folder() const { return folder_; }
  Folder home() const { return folder_ ? folder_->files() : init_.home(); }          // throws std::system_error
  std::string home_path() const { return folder_ ? folder_->files_path() : kHome; }  // inside the session
  bool is_gone() const;  // after kill(): no process of it is left
  GuestChannel& channel() { return channel_; }
  int out() const { return out_.get(); }
  int err() const { return err_.get(); }
  bool is_closed() const { return closed_at_.has_value(); }  // the channel is closed and need not be polled
  const End& end() const { return *end_; }                   // REQUIRES: dead

  // Whether this is the process that announced that it enters the session's namespaces. It may enter until it reports
  // that it has.
  bool may_enter(pid_t process) const { return state_ == State::starting && process != 0 && process == entering_; }
  // Whether the session has no other process now.
  bool runs_nothing_but(pid_t process) const;
  // Whether this is the session's interpreter, which is not ready yet.
  bool is_confining(pid_t process) const {
    return state_ == State::starting && process != 0 && process == interpreter_;
  }
  bool has_interpreter(pid_t process) const { return process != 0 && process == interpreter_; }
  void on_init_ended();
  // Notes the end of the interpreter, if the report is about it. reaper: 0 for the supervisor, else the process id of
  // the init process that sent the report.
  void on_reaped(pid_t reaper, const Report& report);
  // Counts the CPU seconds of another process of the session that ended as a child of the supervisor.
  void on_orphan_reaped(double seconds) { usage_watch_.on_orphan_reaped(seconds); }
  bool may_lock() { return allowance_.may_lock(); }  // one more file lock in this call
  // One more epoll watch, among all that the session ever adds.
  bool may_watch() { return allowance_.may_watch(); }
  // Whether a process of it may start a kernel session (setsid) now: its interpreter, and three more at a time.
  bool may_lead(pid_t process) { return is_confining(process) || allowance_.may_lead(process); }

  // Reads some of what the channel holds and updates the state. take_result() returns the end of a call.
  void on_channel();
  void on_output();
  // expect_fork_answer(): the interpreter has been asked for a fork. take_fork_answers(): the answers, in order: empty,
  // or the reason why not.
  void expect_fork_answer() { ++forks_asked_; }
  std::vector<std::string> take_fork_answers() { return std::exchange(fork_answers_, {}); }

  void seed(std::uint64_t seed);
  // Writes a file of the workspace; take_write() returns the outcome. Running code may hold the file's lock, so an
  // errand waits for it then. Throws std::system_error.
  void write(const std::string& name, const std::string& bytes);
  std::optional<Errand::Outcome> take_write();
  void start(CallRequest request);
  // Keeps the session within its limits and notices its end. Call it often (see `wait`).
  void watch();
  std::chrono::milliseconds wait() const;  // longest time until the next watch()
  std::optional<Result> take_result();     // without the artifacts' bytes
  std::vector<OpenFile> take_files() { return artifacts_.take(); }
  Result result_of_end() const;  // of a call that came after the end. REQUIRES: dead

  // Ends the session's processes. While its forks live (has_forks), its init process stays for them; call again when
  // they are gone.
  void kill(bool has_forks);
  bool has_stragglers();  // after kill(): whether it has processes again; looks only now and then
  void end(Reason reason, std::string why);
  void close_descriptors();  // of a dead session
  // For a session without processes and forks: moves its files out of the reach of others and removes them, which may
  // take several calls. True once that is done.
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
  pid_t parent_init_ = 0;  // the init process of the session it is forked from
  Limits limits_;
  const Surroundings& surroundings_;  // outlive it
  State state_ = State::making;
  bool has_run_;  // guest code has run, in it or in the session it is forked from
  GuestChannel channel_;
  Descriptor out_, err_;
  std::unique_ptr<SessionCgroup> cgroup_;  // if the kernel enforces the limits
  std::optional<HomeFolder> folder_;       // if there are no namespaces; else init_ has the files
  InitProcess init_;
  InitProcess::Namespaces namespaces_;  // while it is starting
  Errand making_;                       // the copy of the files
  pid_t entering_ = 0, interpreter_ = 0;
  Descriptor entering_process_;  // the process that forks the interpreter, until the interpreter exists
  pid_t reaper_ = 0;             // init process that will reap the interpreter; 0: the supervisor will
  pid_t reaped_as_ = 0;          // the interpreter, as its reaper sees it
  bool reaped_ = false;
  std::optional<Clock::time_point> closed_at_;  // when the channel was closed
  std::optional<Call> call_;
  UsageWatch usage_watch_;
  FilesWatch files_watch_;
  Errand writing_;
  std::optional<Errand::Outcome> written_;
  Clock::time_point next_look_, entered_at_;
  double idle_cpu_ = 0;  // seconds used when the last call ended
  Allowance allowance_;
  int forks_asked_ = 0;  // forks that were requested and not answered
  std::vector<std::string> fork_answers_;
  std::optional<Result> result_;
  Artifacts artifacts_;
  std::optional<End> end_;
  Errand removing_;
  bool removed_ = false;
};

}  // namespace agon::sandbox::launcher
