#include "sandbox/launcher/session/guest_session.h"

#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "core/text.h"
#include "sandbox/launcher/session/entered_process.h"
#include "sandbox/launcher/session/output_stream.h"
#include "sandbox/launcher/supervisor/census.h"
#include "sandbox/launcher/supervisor/processes.h"
#include "sandbox/launcher/supervisor/share.h"

namespace agon::sandbox::launcher {
namespace {

using std::chrono::duration;
using std::chrono::milliseconds;

constexpr auto kGrace = milliseconds(250);  // between an interrupt and a forced end
constexpr auto kAnswer =
    milliseconds(1000);  // between an answer and the wait for the next request; a closed channel and an end
constexpr auto kReturn = std::chrono::microseconds(300);  // between an answer and that wait, usually less
constexpr auto kMostStart = std::chrono::seconds(5);      // start of an interpreter that is in its namespaces
constexpr auto kTick = milliseconds(20);
constexpr int kLookPause = 8;  // times the duration of a look, which takes milliseconds for many processes
constexpr auto kFilesTick = milliseconds(200);
constexpr auto kIdleTick = milliseconds(100),
               kQuietTick = milliseconds(1000);  // between calls, with processes and without
constexpr auto kWriting = milliseconds(2);       // between two checks whether a file is written
constexpr std::int64_t kRead = 256 << 10;        // bytes of a stream that are taken at a time
constexpr std::int64_t kPipe = 1 << 20;          // maximum bytes that it can hold

double seconds_since(Clock::time_point start) { return duration<double>(Clock::now() - start).count(); }

// Sessions at rest are checked together, so that one wake-up and one census serve them all.
Clock::time_point next_beat(milliseconds beat) {
  return Clock::time_point(std::chrono::floor<milliseconds>(Clock::now().time_since_epoch()) / beat * beat + 2 * beat);
}

std::string signal_name(int number) {
  const char* name = sigabbrev_np(number);
  return name ? std::string("SIG") + name : fmt::format("signal {}", number);
}

std::string files_text(const Limits& limits) {
  return fmt::format("more than {} bytes or {} files", limits.disk, limits.inodes);
}

}  // namespace

GuestSession::GuestSession(int id, const GuestSession* parent, Limits limits, const Surroundings& surroundings)
    : id_(id),
      parent_(parent ? parent->id() : 0),
      limits_(limits),
      surroundings_(surroundings),
      has_run_(parent != nullptr),
      usage_watch_(id, limits, surroundings),
      files_watch_(id, limits, surroundings),
      allowance_(id, surroundings) {
  const Walls& walls = surroundings.walls;
  if (walls.cgroups >= 0) cgroup_ = std::make_unique<SessionCgroup>(walls.cgroups, id, limits);
  if (walls.has_namespaces()) {
    parent_init_ = parent ? parent->init_.process() : 0;
    init_ = InitProcess::start(parent ? &parent->init_ : nullptr, limits, surroundings.reports);
    return;
  }
  folder_.emplace(walls.folder, id, parent ? &*parent->folder_ : nullptr);
  if (!parent) return;
  making_ = Errand::start([from = *parent->folder_, to = *folder_, limits] {
    to.copy_from(from, limits.disk, limits.inodes);
    return Errand::Values{};
  });
}

int GuestSession::progress() const {
  if (state_ != State::making) return -1;
  return folder_ ? making_.descriptor() : init_.progress();
}

bool GuestSession::on_progress() try {
  if (!folder_) return init_.advance();
  if (!making_.is_out()) return true;
  const auto outcome = making_.take();
  if (outcome && outcome->error != 0) end(Reason::disk_limit, outcome->text);
  return outcome && outcome->error == 0;
} catch (const std::system_error& error) {
  const int code = error.code().value();
  const bool is_fault_of_files = code == ENOSPC || code == ELOOP || code == EDQUOT;
  if (parent_ != 0 && (code == ENOSPC || code == EUSERS) &&
      std::string_view(error.what()).starts_with("new namespaces"))
    end(Reason::process_limit,
        "it is a fork of a fork too many times in a row: the kernel nests namespaces 32 deep, and this machine has "
        "used "
        "some of them up");
  else if (is_fault_of_files)
    end(Reason::disk_limit, error.what());
  else  // code of the session that is forked can end a fork in the making
    end(parent_ != 0 && code == ECHILD ? Reason::killed_by_signal : Reason::sandbox_lost, error.what());
  return false;
}

GuestSession::GuestEnds GuestSession::make_ends() {
  GuestEnds ends;
  std::tie(channel_, ends.channel) = GuestChannel::make();
  ends.out = make_stream(out_);
  ends.err = make_stream(err_);
  if (!folder_) namespaces_ = init_.namespaces();
  state_ = State::starting;
  files_watch_.wait_until(Clock::now() + kFilesTick);
  return ends;
}

void GuestSession::on_channel() {
  const bool open = channel_.receive(
      [this](pid_t sender, std::string_view payload) { return state_ != State::dead && on_frame(sender, payload); });
  if (open || state_ == State::dead) return;
  // Its reaper will report how it ended, unless it lives on without its channel.
  closed_at_ = Clock::now();
  if (state_ == State::starting) end(Reason::protocol_error, "its interpreter ended before it was ready");
}

// False if nothing more should be read.
bool GuestSession::on_frame(pid_t sender, std::string_view payload) {
  const char kind = payload.empty() ? 0 : payload[0];
  payload.remove_prefix(std::min<std::size_t>(1, payload.size()));
  if (state_ == State::starting) {
    on_starting_frame(sender, kind, payload);
    return state_ != State::dead;
  }
  if (kind == 'f' && sender == interpreter_ && forks_asked_ > 0) {
    --forks_asked_;
    fork_answers_.push_back(valid_utf8(payload));
    return true;
  }
  if (kind == 'd' && sender == interpreter_ && state_ == State::busy && !call_->answered && !payload.empty() &&
      static_cast<unsigned char>(payload[0]) <= static_cast<unsigned char>(CodeOutcome::interrupted)) {
    on_answer(payload);
    return true;
  }
  end(Reason::protocol_error, "a message that the interpreter would not send");
  return false;
}

void GuestSession::on_starting_frame(pid_t sender, char kind, std::string_view payload) {
  if (kind == 'i' && entering_ == 0) {
    entering_ = sender;
    entering_process_ = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, sender, 0)));  // invalid if it has ended
  } else if (kind == 's' && entering_ != 0 && interpreter_ == 0)
    on_entered(sender);
  else if (kind == 'h' && sender == interpreter_ && interpreter_ != 0)
    on_ready();
  else
    end(Reason::protocol_error, kind == 'e' ? valid_utf8(payload) : "an unexpected message");
}

void GuestSession::on_ready() {
  state_ = State::ready;
  next_look_ = Clock::now() + kIdleTick;
  namespaces_ = {};
}

void GuestSession::on_entered(pid_t process) try {
  if (!is_inside(process)) return end(Reason::protocol_error, "the new process is not where it said");
  const ProcessStatus status(process);
  if (const std::string fault = fault_of_confinement(status); !fault.empty()) return end(Reason::protocol_error, fault);
  interpreter_ = reaped_as_ = process;
  entering_process_.reset();
  entered_at_ = Clock::now();
  next_look_ = entered_at_ + kTick;
  if (parent_ != 0 && init_.process() != 0) {
    // Its reaper is the init process of the parent, one pid namespace further out.
    const std::vector<std::string> numbers = split(status.field("NSpid"), "\t");
    if (numbers.size() < 2) return end(Reason::protocol_error, "the new process is gone");
    reaper_ = parent_init_;
    reaped_as_ = std::atoi(numbers[numbers.size() - 2].c_str());
  }
  hold(process, status);
  channel_.send(fmt::format("g{}", home_path()));
} catch (const std::system_error& error) {
  end(Reason::protocol_error, error.what());
}

void GuestSession::hold(pid_t process, const ProcessStatus& status) {
  mark_process(process, id_);
  if (cgroup_) cgroup_->add(process);
  if (parent_ == 0) set_rlimits(process, status, limits_, init_.process() != 0);  // a fork inherits them
  usage_watch_.begin(process, init_.process(), cgroup_.get());
}

bool GuestSession::is_inside(pid_t process) const {
  if (folder_) return parent_of(process) == getpid() && (session_of_process(process) == parent_);
  return is_in_namespaces(process, namespaces_);
}

// Only somebody with access to it can have ended it: for a session that is not a fork, that is only the machine.
void GuestSession::on_init_ended() {
  init_.on_reaped();
  end(parent_ != 0 ? Reason::killed_by_signal : Reason::sandbox_lost, "its init process has ended");
}

void GuestSession::on_reaped(pid_t reaper, const Report& report) {
  if (reaper != reaper_ || interpreter_ == 0 || report.process != reaped_as_ || reaped_) return;
  reaped_ = true;
  on_exit(report.status);
}

void GuestSession::end(Reason reason, std::string why) {
  if (state_ == State::dead) return;
  if (call_) finish(reason, why, false);
  if (!end_) end_ = End{reason, std::move(why)};
  state_ = State::dead;
}

void GuestSession::seed(std::uint64_t seed) {
  std::string payload = "z";
  for (int shift = 0; shift < 64; shift += 8) payload += static_cast<char>(seed >> shift & 0xff);
  channel_.send(payload);
}

void GuestSession::write(const std::string& name, const std::string& bytes) {
  artifacts_.on_written();
  const auto home_folder = std::make_shared<const Folder>(home());
  const auto work = [this, home_folder, &name, &bytes] {
    const auto size = static_cast<std::int64_t>(bytes.size());
    if (folder_ && files_watch_.bytes(*folder_) + size > limits_.disk)
      throw std::system_error(ENOSPC, std::generic_category(), "writing " + name);
    write_file(*home_folder, name, bytes);
    return Errand::Values{};
  };
  if (!is_alone()) {
    writing_ = Errand::start(work, {home_folder->get()});
    return;
  }
  work();
  written_ = Errand::Outcome{};
}

std::optional<Errand::Outcome> GuestSession::take_write() {
  return writing_.is_out() ? writing_.take() : std::exchange(written_, std::nullopt);
}

// True if no guest can hold a kernel lock now.
bool GuestSession::is_alone() const {
  if (!has_run_) return true;
  return surroundings_.processes(id_, milliseconds(0)) == std::vector<pid_t>{interpreter_} &&
         memory_use(interpreter_).threads == 1 && waits_for_request();
}

bool GuestSession::runs_nothing_but(pid_t process) const {
  return surroundings_.processes(id_, milliseconds(0)) == std::vector<pid_t>{process};
}

void GuestSession::start(CallRequest request) {
  drain_into(out(), nullptr, kPipe);
  drain_into(err(), nullptr, kPipe);
  has_run_ = true;
  call_.emplace();
  call_->out = call_->err = OutputBuffer(limits_.kept_output);
  call_->request = std::move(request);
  call_->start = Clock::now();
  call_->wall = call_->request.wall > 0 ? std::min(call_->request.wall, limits_.wall) : limits_.wall;
  artifacts_.begin_call(call_->request, [this] { return home(); });
  call_->cpu_before = usage_watch_.cpu();
  allowance_.begin_call();
  usage_watch_.begin_call();
  if (cgroup_) {
    call_->peak_before = cgroup_->peak_memory();
    call_->kills_before = cgroup_->memory_kills();
    call_->refusals_before = cgroup_->process_refusals();
  }
  const std::string& name = call_->request.name;
  std::string payload = call_->request.show_bools ? "r" : "q";
  for (int shift = 0; shift < 32; shift += 8) payload += static_cast<char>(name.size() >> shift & 0xff);
  channel_.send(payload + name + call_->request.code);
  state_ = State::busy;
  next_look_ = Clock::now() + kTick;
  files_watch_.begin_call(next_look_);
}

void GuestSession::on_output() {
  drain_into(out(), call_ ? &call_->out : nullptr, kRead);
  drain_into(err(), call_ ? &call_->err : nullptr, kRead);
  if (call_ && call_->out.total() + call_->err.total() > limits_.output)
    end(Reason::output_limit, fmt::format("more than {} bytes of output", limits_.output));
}

void GuestSession::on_answer(std::string_view payload) {
  call_->answered = true;
  call_->answered_at = Clock::now();
  call_->outcome = static_cast<CodeOutcome>(payload[0]);
  call_->text = valid_utf8(payload.substr(1));
  finish_answered();
}

// An answer counts once the main thread is back where it waits for the next request. Code that merely claims to be done
// does not count.
void GuestSession::finish_answered() {
  if (!waits_for_request()) return;
  if (call_->interrupted) return finish(*call_->interrupted, call_->text, true);
  constexpr std::array kReasons = {Reason::ok,         Reason::exception, Reason::memory_limit, Reason::process_limit,
                                   Reason::disk_limit, Reason::exception};
  finish(kReasons.at(static_cast<std::size_t>(call_->outcome)), call_->text, true);
}

bool GuestSession::waits_for_request() const {
  const auto waiting = waiting_in(interpreter_);
  return waiting && waiting->number == SYS_recvmsg && waiting->argument == kGuestChannel;
}

void GuestSession::on_exit(int status) {
  if (call_ && call_->interrupted) return end(*call_->interrupted, "ended at the limit");
  if (cgroup_ && cgroup_->memory_kills() > 0)  // the kernel ends a session over its memory as a whole
    return end(Reason::memory_limit, fmt::format("more than {} bytes of memory", limits_.memory));
  if (WIFSIGNALED(status)) return end(Reason::killed_by_signal, "killed by " + signal_name(WTERMSIG(status)));
  end(WEXITSTATUS(status) == 0 ? Reason::ok : Reason::exception,
      fmt::format("the interpreter left with code {}", WEXITSTATUS(status)));
}

void GuestSession::watch() {
  if (state_ != State::dead && closed_at_ && Clock::now() - *closed_at_ > kAnswer)
    return end(Reason::protocol_error, "the interpreter closed its channel");
  if (state_ == State::starting) return watch_start();
  if (state_ == State::ready) return watch_idle();
  if (state_ == State::busy) watch_call();
}

// Checked because code of the session that it is forked from controls the first steps of a fork.
void GuestSession::watch_start() {
  check_files();
  if (state_ == State::dead) return;
  if (interpreter_ == 0 || Clock::now() < next_look_) return;
  next_look_ = Clock::now() + kTick;
  if (Clock::now() - entered_at_ > kMostStart) return end(Reason::wall_timeout, "it did not start in time");
  usage_watch_.look();
  auto over = usage_watch_.exceeded();
  if (!over && usage_watch_.cpu_since(0) > limits_.cpu) over = End{Reason::cpu_limit, "more CPU time than its limit"};
  if (over) end(over->reason, over->text);
}

void GuestSession::watch_call() {
  if (call_->answered) watch_answered();
  if (!call_) return;
  if (call_->interrupted) {
    if (Clock::now() - call_->interrupted_at > kGrace) return end(*call_->interrupted, "ended at the limit");
  } else if (seconds_since(call_->start) > call_->wall) {
    interrupt(Reason::wall_timeout, fmt::format("longer than {:g} s", call_->wall));
  }
  if (Clock::now() < next_look_) return;
  const auto before = own_cpu_time();
  check_use();
  if (call_) next_look_ = Clock::now() + std::max<Clock::duration>(kTick, kLookPause * (own_cpu_time() - before));
}

void GuestSession::watch_answered() {
  finish_answered();
  if (call_ && Clock::now() - call_->answered_at > kAnswer)
    end(Reason::protocol_error, "an answer while the code went on");
}

// Processes that earlier calls left running have the same limits; CPU time between two calls counts like that of one
// call.
void GuestSession::watch_idle() {
  if (Clock::now() < next_look_) return;
  const bool waits = usage_watch_.is_out() || files_watch_.is_out() || (folder_ && !files_watch_.was_counted());
  if (!waits && usage_watch_.usage().at_rest(surroundings_.processes(id_, kIdleTick))) {
    next_look_ = next_beat(kQuietTick);
    return;
  }
  usage_watch_.look();
  auto over = usage_watch_.exceeded();
  if (!over && usage_watch_.cpu_since(idle_cpu_) > limits_.cpu)
    over = End{Reason::cpu_limit, "more CPU time than its limit"};
  if (over) return end(over->reason, "between calls: " + over->text);
  const bool is_quiet = usage_watch_.usage().processes() <= 1;
  if (!is_quiet || !files_watch_.was_counted() || files_watch_.is_out()) check_files();
  const bool is_waiting = usage_watch_.is_out() || files_watch_.is_out();
  if (state_ == State::ready) next_look_ = Clock::now() + (is_waiting ? kTick : is_quiet ? kQuietTick : kIdleTick);
}

std::chrono::milliseconds GuestSession::wait() const {
  const auto until = [](Clock::time_point at, milliseconds most) {
    return std::clamp(std::chrono::duration_cast<milliseconds>(at - Clock::now()) + milliseconds(1), milliseconds(1),
                      most);
  };
  if (state_ == State::ready) return writing_.is_out() ? kWriting : until(next_look_, kQuietTick);
  if (state_ == State::starting && interpreter_ != 0) return kTick;
  if (state_ == State::starting && folder_) return kFilesTick;
  if (state_ != State::busy) return milliseconds(10'000);
  // The interpreter is on its way back from its answer.
  if (call_->answered && !closed_at_)
    return Clock::now() - call_->answered_at < kReturn ? milliseconds(0) : milliseconds(1);
  const auto wall = std::chrono::duration_cast<Clock::duration>(duration<double>(call_->wall));
  return std::min(until(call_->interrupted ? call_->interrupted_at + kGrace : call_->start + wall, kTick),
                  until(next_look_, kTick));
}

void GuestSession::check_use() {
  if (cgroup_) check_cgroup();
  if (!call_) return;
  usage_watch_.look();
  const Usage& usage = usage_watch_.usage();
  call_->seen = std::max(call_->seen, usage.memory());
  if (!cgroup_ && !usage.knows_peak())  // the kernel records the peak of the interpreter alone
    call_->peak = std::max(call_->peak, usage.memory() > limits_.memory ? usage_watch_.known_memory() : usage.memory());
  if (const auto over = usage_watch_.exceeded()) return end(over->reason, over->text);
  check_files();
  if (call_ && !call_->interrupted && usage_watch_.cpu_since(call_->cpu_before) > limits_.cpu)
    interrupt(Reason::cpu_limit, fmt::format("more than {:g} s of CPU time", limits_.cpu));
}

// The kernel has enforced a limit; finish() finds which.
void GuestSession::check_cgroup() {
  call_->peak = std::max(call_->peak, cgroup_->memory());
  if (cgroup_->process_refusals() > call_->refusals_before || cgroup_->memory_kills() > call_->kills_before)
    end(Reason::ok, "");
}

// Only if no file system of the session's own enforces these limits.
void GuestSession::check_files() {
  if (!folder_ || state_ == State::dead) return;
  if (files_watch_.look(*folder_, state_ == State::ready ? kQuietTick : kFilesTick))
    end(Reason::disk_limit, files_text(limits_));
}

void GuestSession::interrupt(Reason reason, std::string text) {
  call_->interrupted = reason;
  call_->interrupted_at = Clock::now();
  call_->text = std::move(text);
  if (!reaped_) ::kill(interpreter_, SIGINT);
}

std::int64_t GuestSession::measured_peak() {
  if (cgroup_) {
    const std::int64_t peak = cgroup_->peak_memory();
    return peak > call_->peak_before ? peak : std::max(call_->peak, cgroup_->memory());
  }
  // The looks know more than the kernel if the interpreter is gone, or has given back much memory for mapped files.
  const std::int64_t seen =
      call_->seen - (usage_watch_.usage().memory() > 0 ? surroundings_.template_memory.resident : 0);
  return std::max({call_->peak, usage_watch_.interpreter_peak(), seen});
}

void GuestSession::drain() {
  drain_into(out(), &call_->out, kPipe);
  drain_into(err(), &call_->err, kPipe);
}

// The limit that the session has reached during the call, if its cgroup or its folder shows it.
std::optional<GuestSession::End> GuestSession::met_limit() const {
  if (cgroup_ && cgroup_->memory_kills() > call_->kills_before)
    return End{Reason::memory_limit, fmt::format("more than {} bytes of memory", limits_.memory)};
  if (cgroup_ && cgroup_->process_refusals() > call_->refusals_before)
    return End{Reason::process_limit, fmt::format("more than {} processes and threads", limits_.processes)};
  if (folder_ && files_watch_.has_too_many(*folder_)) return End{Reason::disk_limit, files_text(limits_)};
  return std::nullopt;
}

void GuestSession::finish(Reason reason, std::string text, bool alive) {
  if (auto met = met_limit(); met && reason != Reason::sandbox_lost) {
    end_ = met;
    std::tie(reason, text) = std::tie(met->reason, met->text);
    alive = false;
  }
  drain();
  usage_watch_.look_briefly();
  Result result;
  result.reason = reason;
  result.tier = surroundings_.walls.tier;
  result.text = std::move(text);
  result.out = call_->out.text();
  result.err = call_->err.text();
  result.dropped_bytes = call_->out.dropped() + call_->err.dropped();
  result.wall_s = seconds_since(call_->start);
  idle_cpu_ = usage_watch_.cpu();
  result.cpu_s = std::max(0.0, idle_cpu_ - call_->cpu_before);
  result.peak_memory = measured_peak();
  result.alive = alive;
  result.ran = true;
  result.pictures_left = artifacts_.collect(call_->request, limits_.file, [this] { return home(); });
  if (!alive && !end_) end_ = End{result.reason, result.text};
  result_ = std::move(result);
  call_.reset();
  state_ = alive ? State::ready : State::dead;
  next_look_ = Clock::now() + kIdleTick;
}

std::optional<Result> GuestSession::take_result() { return std::exchange(result_, std::nullopt); }

Result GuestSession::result_of_end() const {
  Result result;
  result.reason = end_->reason == Reason::ok ? Reason::exception : end_->reason;
  result.tier = surroundings_.walls.tier;
  result.text = "the session had ended: " + end_->text;
  return result;
}

void GuestSession::kill(bool has_forks) {
  state_ = State::dead;
  making_ = Errand();
  usage_watch_.stop();
  files_watch_.stop();
  writing_ = Errand();
  // By its descriptor, because another process may have its number now.
  if (entering_process_) syscall(SYS_pidfd_send_signal, entering_process_.get(), SIGKILL, nullptr, 0);
  entering_process_.reset();
  if (!folder_ && !has_forks) {
    if (init_.process() != 0) ::kill(init_.process(), SIGKILL);  // which ends everything in its pid namespace
  } else if (cgroup_) {
    cgroup_->kill();
  } else {
    kill_all();
  }
}

// They can make no further processes while they are ended.
void GuestSession::kill_all() {
  constexpr int kMostRounds = 20;
  const rlimit none{0, 0};
  std::set<pid_t> killed;
  std::size_t before = 0;
  for (int round = 0; round < kMostRounds; ++round) {
    for (const pid_t process : surroundings_.processes(id_, milliseconds(0))) {
      if (!killed.insert(process).second) continue;
      prlimit(process, RLIMIT_NPROC, &none, nullptr);
      ::kill(process, SIGKILL);
    }
    if (killed.size() == std::exchange(before, killed.size())) return;
  }
}

bool GuestSession::has_stragglers() {
  if (cgroup_ || Clock::now() < next_look_) return false;
  next_look_ = Clock::now() + kIdleTick;
  return !surroundings_.processes(id_, kFresh).empty();
}

bool GuestSession::is_gone() const {
  if (!folder_) return init_.process() == 0;
  return (interpreter_ == 0 || reaped_) && surroundings_.processes(id_, kFresh).empty();
}

void GuestSession::close_descriptors() {
  channel_.close();
  out_.reset();
  err_.reset();
}

bool GuestSession::remove_files() {
  if (!folder_ || removed_) return true;
  if (!removing_.is_out()) {
    folder_->move_away();
    removing_ = Errand::start([folder = *folder_] {
      folder.remove();
      return Errand::Values{};
    });
    return false;
  }
  removed_ = removing_.take().has_value();
  return removed_;
}

}  // namespace agon::sandbox::launcher
