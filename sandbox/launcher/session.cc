#include "sandbox/launcher/session.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <set>

#include "core/text.h"
#include "sandbox/launcher/private_root.h"
#include "sandbox/launcher/processes.h"
#include "sandbox/launcher/session_files.h"
#include "sandbox/launcher/sockets.h"

namespace agon::sandbox::launcher {
namespace {

using std::chrono::duration;
using std::chrono::milliseconds;

constexpr auto kGrace = milliseconds(250);  // between an interrupt and the end by force
constexpr auto kAnswer =
    milliseconds(1000);  // between an answer and the wait for the next request; a closed channel and an end
constexpr auto kTick = milliseconds(20);
constexpr auto kFilesTick = milliseconds(200);
constexpr auto kIdleTick = milliseconds(100),
               kQuietTick = milliseconds(1000);  // between calls, with processes and without
constexpr std::size_t kMostPictures = 16;
constexpr std::int64_t kMostCollected = 128 << 20;  // bytes of files that a call brings out
constexpr std::int64_t kForkedSessions = 256;       // processes that forks of a session may add to its count
constexpr std::int64_t kMostOfUser = 8192;          // processes of one user where all sessions share it
constexpr std::int64_t kSlack = 32 << 20;  // bytes of data beside the limit that the interpreter itself may need

double seconds_since(Clock::time_point start) { return duration<double>(Clock::now() - start).count(); }

std::string signal_name(int number) {
  const char* name = sigabbrev_np(number);
  return name ? std::string("SIG") + name : fmt::format("signal {}", number);
}

// What a stream's pipe holds, at most `most` bytes.
std::int64_t drain_into(int pipe, OutputBuffer* buffer, std::int64_t most) {
  std::array<char, 1 << 16> piece;
  std::int64_t total = 0;
  ssize_t got = 0;
  while (total < most && (got = read(pipe, piece.data(), piece.size())) > 0) {
    total += got;
    if (buffer) buffer->add({piece.data(), static_cast<std::size_t>(got)});
  }
  return total;
}

constexpr std::int64_t kPipe = 1 << 20;

// Gives the writing end; ours, kept in `reading`, never blocks.
Descriptor make_stream(Descriptor& reading) {
  Pipe pipe = make_pipe();
  reading = std::move(pipe.reading);
  checked(fcntl(reading.get(), F_SETFL, O_NONBLOCK), "fcntl");
  return std::move(pipe.writing);
}

}  // namespace

Session::Session(int id, const Session* parent, Limits limits, const Walls& walls, std::function<bool(pid_t)> is_other)
    : id_(id), parent_(parent ? parent->id() : 0), limits_(limits), walls_(walls), is_other_(std::move(is_other)) {
  if (walls.cgroups >= 0) cgroup_ = std::make_unique<SessionCgroup>(walls.cgroups, id, limits);
  if (walls.has_namespaces()) {
    first_ = make_first_process(parent ? &parent->first_ : nullptr, limits);
    first_end_ = Descriptor(static_cast<int>(checked(syscall(SYS_pidfd_open, first_.process, 0), "pidfd_open")));
  } else {
    const HomeFolder* from = parent ? parent->folder_.get() : nullptr;
    folder_ =
        std::make_unique<HomeFolder>(from ? from->path_of_fork(id) : fmt::format("{}/{}", walls.folder, id), from);
  }
}

Session::GuestEnds Session::make_ends() {
  GuestEnds ends;
  std::tie(channel_, ends.channel) = GuestChannel::make();
  ends.out = make_stream(out_);
  ends.err = make_stream(err_);
  return ends;
}

void Session::on_channel() {
  const bool open = channel_.receive([this](pid_t sender, std::string_view payload) {
    if (state_ != State::dead) on_frame(sender, payload);
  });
  if (open || state_ == State::dead) return;
  // Its reaper will say how it ended, unless it lives on without its channel.
  closed_at_ = Clock::now();
  if (state_ == State::starting) fail("the interpreter ended");
}

void Session::on_frame(pid_t sender, std::string_view payload) {
  if (payload.empty()) {
    if (call_) finish(Reason::protocol_error, "an empty message", false);
    return fail("an empty message");
  }
  const char kind = payload[0];
  payload.remove_prefix(1);
  if (state_ == State::starting) {
    if (kind == 'i' && entering_ == 0)
      entering_ = sender;
    else if (kind == 's' && entering_ != 0 && interpreter_ == 0)
      on_entered(sender);
    else if (kind == 'h' && sender == interpreter_) {
      base_memory_ = process_use(sender).memory;
      state_ = State::ready;
    } else
      fail(kind == 'e' ? valid_utf8(payload) : "an unexpected message");
    return;
  }
  if (kind == 'f' && sender == interpreter_) return;  // the new session speaks for itself
  if (kind == 'd' && sender == interpreter_ && state_ == State::busy && !call_->answered && !payload.empty() &&
      static_cast<unsigned char>(payload[0]) <= static_cast<unsigned char>(Outcome::interrupted))
    return on_answer(payload);
  if (call_) finish(Reason::protocol_error, "a message that the interpreter would not send", false);
  fail("a message that the interpreter would not send");
}

void Session::on_entered(pid_t process) {
  if (!is_inside(process)) return fail("the new process is not where it said");
  for (const char* name : {"CapEff", "CapPrm", "CapInh", "CapAmb"})
    if (status_field(process, name).find_first_not_of('0') != std::string::npos)
      return fail("the new process kept capabilities");
  if (status_field(process, "Seccomp") != "2" || status_field(process, "NoNewPrivs") != "1")
    return fail("the new process is not filtered");
  interpreter_ = reaped_as_ = process;
  if (parent_ != 0 && first_.process != 0) {
    // Its reaper is the first process of the parent, one pid namespace further out than its own.
    const std::vector<std::string> numbers = split(status_field(process, "NSpid"), "\t");
    reaper_ = parent_;
    reaped_as_ = std::atoi(numbers.at(numbers.size() - 2).c_str());
  }
  try {
    hold(process);
    channel_.send(fmt::format("g{}", home_path()));
  } catch (const std::system_error& error) {
    fail(error.what());
  }
}

void Session::hold(pid_t process) {
  if (cgroup_) cgroup_->add(process);
  if (parent_ == 0) set_rlimits(process);  // a fork inherits them
}

bool Session::is_inside(pid_t process) const {
  if (first_.process == 0) return parent_of(process) == getpid() && !is_other_(process);
  const auto same = [process](const char* name, const Descriptor& expected) {
    struct stat is {
    }, should{};
    return stat(fmt::format("/proc/{}/ns/{}", process, name).c_str(), &is) == 0 &&
           fstat(expected.get(), &should) == 0 && is.st_ino == should.st_ino;
  };
  return same("user", first_.users) && same("mnt", first_.mounts) && same("pid", first_.pids);
}

// Hard limits that the guest cannot raise. Memory and processes are held by watch(); these are the last line behind it.
void Session::set_rlimits(pid_t process) const {
  const auto set = [process](int resource, std::int64_t value) {
    rlimit had{};
    checked(prlimit(process, static_cast<__rlimit_resource>(resource), nullptr, &had), "prlimit");
    const rlim_t most = std::min(static_cast<rlim_t>(value), had.rlim_max);
    const rlimit limit{most, most};
    checked(prlimit(process, static_cast<__rlimit_resource>(resource), &limit, nullptr), "prlimit");
  };
  set(RLIMIT_FSIZE, limits_.file);
  // Counted by user namespace: where there is none, with all that the user runs.
  set(RLIMIT_NPROC, first_.process != 0 ? limits_.processes + kForkedSessions : kMostOfUser);
  const std::int64_t data = std::atoll(status_field(process, "VmData").c_str()) << 10;
  set(RLIMIT_DATA, data + limits_.memory + kSlack);
}

void Session::on_reaped(int reaper, const Report& report) {
  if (reaper != reaper_ || interpreter_ == 0 || report.process != reaped_as_) return;
  reaped_ = true;
  on_exit(report.status);
}

std::vector<pid_t> Session::processes() const {
  const auto foreign = [this](pid_t pid) { return owns(pid) || is_other_(pid); };
  std::vector<pid_t> all;
  if (first_.process != 0) {
    all = process_tree(first_.process, foreign);
    all.erase(all.begin());  // ours
  }
  if (interpreter_ == 0 || reaped_) return all;
  const std::vector<pid_t> rest = process_tree(interpreter_, foreign);
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

void Session::fail(std::string why) {
  if (failure_.empty()) failure_ = std::move(why);
  state_ = State::dead;
}

void Session::lose(std::string why) {
  if (call_) finish(Reason::sandbox_lost, why, false);
  fail(std::move(why));
}

void Session::write(const std::string& name, const std::string& bytes) {
  const auto size = static_cast<std::int64_t>(bytes.size());
  if (folder_ && files_use(folder_->descriptor(), limits_.inodes).bytes + size > limits_.disk)
    throw std::system_error(ENOSPC, std::generic_category(), "writing " + name);
  write_file(home(), name, bytes);
}

void Session::start(CallRequest request) {
  drain_into(out(), nullptr, kPipe);
  drain_into(err(), nullptr, kPipe);
  call_.emplace();
  call_->out = call_->err = OutputBuffer(limits_.kept_output);
  call_->request = std::move(request);
  call_->start = Clock::now();
  call_->wall = call_->request.wall > 0 ? std::min(call_->request.wall, limits_.wall) : limits_.wall;
  if (call_->request.pictures) call_->pictures = pictures();
  call_->cpu_before = used_cpu();
  if (cgroup_) {
    call_->peak_before = cgroup_->peak_memory();
    call_->kills_before = cgroup_->memory_kills();
    call_->refusals_before = cgroup_->process_refusals();
  }
  reset_peak_memory(interpreter_);
  const std::string& name = call_->request.name;
  std::string payload = "r";
  for (int shift = 0; shift < 32; shift += 8) payload += static_cast<char>(name.size() >> shift & 0xff);
  channel_.send(payload + name + call_->request.code);
  state_ = State::busy;
}

void Session::on_output() {
  if (!call_) {
    drain_into(out(), nullptr, kPipe);
    drain_into(err(), nullptr, kPipe);
    return;
  }
  drain_into(out(), &call_->out, kPipe);
  drain_into(err(), &call_->err, kPipe);
  if (call_->out.total() + call_->err.total() > limits_.output)
    finish(Reason::output_limit, fmt::format("more than {} bytes of output", limits_.output), false);
}

void Session::on_answer(std::string_view payload) {
  call_->answered = true;
  call_->answered_at = Clock::now();
  call_->outcome = static_cast<Outcome>(payload[0]);
  call_->text = valid_utf8(payload.substr(1));
  finish_answered();
}

// An answer counts once the main thread is back where it waits for the next request: code that only says it is done is
// not.
void Session::finish_answered() {
  if (!waits_for_request()) return;
  if (call_->interrupted) return finish(*call_->interrupted, call_->text, true);
  constexpr std::array kReasons = {Reason::ok,         Reason::exception, Reason::memory_limit, Reason::process_limit,
                                   Reason::disk_limit, Reason::exception};
  finish(kReasons.at(static_cast<std::size_t>(call_->outcome)), call_->text, true);
}

bool Session::waits_for_request() const {
  const auto waiting = waiting_in(interpreter_);
  return waiting && waiting->number == SYS_recvmsg && waiting->argument == kGuestChannel;
}

void Session::on_exit(int status) {
  if (call_) {
    if (call_->interrupted)
      finish(*call_->interrupted, "ended at the limit", false);
    else if (WIFSIGNALED(status))
      finish(Reason::killed_by_signal, "killed by " + signal_name(WTERMSIG(status)), false);
    else
      finish(WEXITSTATUS(status) == 0 ? Reason::ok : Reason::exception,
             fmt::format("the interpreter left with code {}", WEXITSTATUS(status)), false);
  }
  fail("its interpreter has ended");
}

void Session::watch() {
  if (state_ != State::dead && closed_at_ && Clock::now() - *closed_at_ > kAnswer) {
    if (call_) finish(Reason::protocol_error, "the interpreter closed its channel", false);
    return fail("the interpreter closed its channel");
  }
  if (state_ == State::ready) return watch_idle();
  if (state_ != State::busy) return;
  if (call_->answered) {
    finish_answered();
    if (call_ && Clock::now() - call_->answered_at > kAnswer) {
      finish(Reason::protocol_error, "an answer while the code went on", false);
      fail("an answer while the code went on");
    }
    if (!call_) return;
  }
  if (call_->interrupted) {
    if (Clock::now() - call_->interrupted_at > kGrace) {
      finish(*call_->interrupted, "ended at the limit", false);
      return fail("it was ended at a limit");
    }
  } else if (seconds_since(call_->start) > call_->wall) {
    interrupt(Reason::wall_timeout, fmt::format("longer than {:g} s", call_->wall));
  }
  check_use();
}

// What earlier calls left running is held to the same limits; the CPU time between two calls to that of one.
void Session::watch_idle() {
  if (!idle_look_ || Clock::now() < *idle_look_) return;
  std::int64_t memory = 0;
  auto over = cgroup_ ? std::nullopt : exceeded(memory);
  if (!over && has_too_many_files()) over = {Reason::disk_limit, "more files, or larger ones, than its limit"};
  if (!over && used_cpu() - idle_cpu_ > limits_.cpu) over = {Reason::cpu_limit, "more CPU time than its limit"};
  if (over) return fail("between calls: " + over->second);
  idle_look_ = Clock::now() + (processes().size() > 1 ? kIdleTick : kQuietTick);
}

std::chrono::milliseconds Session::wait() const {
  if (state_ == State::ready && idle_look_)
    return std::clamp(std::chrono::duration_cast<milliseconds>(*idle_look_ - Clock::now()), milliseconds(1),
                      kQuietTick);
  if (state_ != State::busy) return milliseconds(10'000);
  if (call_->answered && !closed_at_) return milliseconds(1);
  const auto left =
      std::chrono::duration_cast<milliseconds>(duration<double>(call_->wall - seconds_since(call_->start))) +
      milliseconds(1);
  return std::clamp(left, milliseconds(1), kTick);
}

void Session::check_use() {
  if (cgroup_)
    check_cgroup();
  else
    check_processes();
  if (call_ && folder_) check_files();
  if (call_ && !call_->interrupted && used_cpu() - call_->cpu_before > limits_.cpu)
    interrupt(Reason::cpu_limit, fmt::format("more than {:g} s of CPU time", limits_.cpu));
}

// The kernel has kept the limits; finish() finds which.
void Session::check_cgroup() {
  call_->peak = std::max(call_->peak, cgroup_->memory());
  if (cgroup_->process_refusals() > call_->refusals_before || cgroup_->memory_kills() > call_->kills_before)
    finish(Reason::ok, "", false);
}

// Where there is no file system of its own to keep these limits.
void Session::check_files() {
  if (Clock::now() - call_->files_at < kFilesTick) return;
  call_->files_at = Clock::now();
  if (has_too_many_files()) finish(Reason::ok, "", false);
}

bool Session::has_too_many_files() const {
  if (!folder_) return false;
  const FilesUse use = files_use(folder_->descriptor(), limits_.inodes);
  return use.bytes > limits_.disk || use.files > limits_.inodes;
}

void Session::check_processes() {
  std::int64_t memory = 0;
  const auto over = exceeded(memory);
  call_->peak = std::max(call_->peak, std::min(memory, limits_.memory));
  if (!over) return;
  finish(over->first, over->second, false);
  fail("it was ended at a limit");
}

// memory: of all processes, beside what they share with the template.
std::optional<std::pair<Reason, std::string>> Session::exceeded(std::int64_t& memory) const {
  std::int64_t tasks = 0;
  const std::vector<pid_t> tree = processes();
  for (const pid_t pid : tree) {
    const ProcessUse use = process_use(pid);
    memory += std::max<std::int64_t>(0, use.memory - base_memory_);
    tasks += use.threads;
  }
  if (memory > limits_.memory) {
    // Children share pages with their parents: count them by their parts before anyone is ended for it.
    std::int64_t proportional = 0;
    for (const pid_t pid : tree) proportional += proportional_memory(pid);
    if (proportional > limits_.memory)
      return std::pair(Reason::memory_limit,
                       fmt::format("{} bytes of memory, more than {}", proportional, limits_.memory));
  }
  if (tasks > limits_.processes)
    return std::pair(Reason::process_limit,
                     fmt::format("{} processes and threads, more than {}", tasks, limits_.processes));
  return std::nullopt;
}

void Session::interrupt(Reason reason, std::string text) {
  call_->interrupted = reason;
  call_->interrupted_at = Clock::now();
  call_->text = std::move(text);
  ::kill(interpreter_, SIGINT);
}

double Session::used_cpu() const {
  if (cgroup_) return cgroup_->cpu_seconds();
  double seconds = 0;
  for (const pid_t pid : processes()) seconds += cpu_seconds(pid) + reaped_cpu_seconds(pid);
  return seconds;
}

std::int64_t Session::measured_peak() const {
  if (cgroup_) {
    const std::int64_t peak = cgroup_->peak_memory();
    return peak > call_->peak_before ? peak : std::max(call_->peak, cgroup_->memory());
  }
  return std::max<std::int64_t>(call_->peak, peak_memory(interpreter_) - file_memory(interpreter_) - base_memory_);
}

void Session::drain() {
  drain_into(out(), &call_->out, kPipe);
  drain_into(err(), &call_->err, kPipe);
}

// The limit that the session has met during the call, where its cgroup or its folder tells.
std::optional<std::pair<Reason, std::string>> Session::met_limit() const {
  if (cgroup_ && cgroup_->memory_kills() > call_->kills_before)
    return std::pair(Reason::memory_limit, fmt::format("more than {} bytes of memory", limits_.memory));
  if (cgroup_ && cgroup_->process_refusals() > call_->refusals_before)
    return std::pair(Reason::process_limit, fmt::format("more than {} processes and threads", limits_.processes));
  if (has_too_many_files())
    return std::pair(Reason::disk_limit, fmt::format("more than {} bytes or {} files", limits_.disk, limits_.inodes));
  return std::nullopt;
}

void Session::finish(Reason reason, std::string text, bool alive) {
  if (const auto met = met_limit(); met && reason != Reason::sandbox_lost) {
    std::tie(reason, text) = *met;
    alive = false;
    fail("it was ended at a limit");
  }
  drain();
  Result result;
  result.reason = reason;
  result.tier = walls_.tier;
  result.text = std::move(text);
  result.out = call_->out.text();
  result.err = call_->err.text();
  result.dropped_bytes = call_->out.dropped() + call_->err.dropped();
  result.wall_s = seconds_since(call_->start);
  idle_cpu_ = used_cpu();
  result.cpu_s = std::max(0.0, idle_cpu_ - call_->cpu_before);
  result.peak_memory = measured_peak();
  result.alive = alive;
  collect(result);
  result_ = std::move(result);
  call_.reset();
  state_ = alive ? State::ready : State::dead;
  if (!alive) return;
  idle_look_ = Clock::now() + kIdleTick;
}

// A file that cannot be brought out, or is too much beside the others, is left out: what the code calls a picture may
// be anything.
void Session::collect(Result& result) const {
  std::int64_t left = kMostCollected;
  const auto take = [&](const std::string& name) {
    try {
      result.artifacts.push_back({name, read_file(home(), name, std::min(limits_.file, left))});
      left -= std::ssize(result.artifacts.back().bytes);
    } catch (const std::system_error&) {
    }
  };
  for (const std::string& name : call_->request.artifacts) take(name);
  if (!call_->request.pictures) return;
  std::size_t taken = 0;
  for (const auto& [name, state] : pictures()) {
    const auto before = call_->pictures.find(name);
    if (before != call_->pictures.end() && before->second == state) continue;
    if (++taken <= kMostPictures) take(name);
  }
}

// The guest may have taken its workspace away.
std::map<std::string, FileState> Session::pictures() const {
  try {
    return picture_files(home());
  } catch (const std::system_error&) {
    return {};
  }
}

std::optional<Result> Session::take_result() { return std::exchange(result_, std::nullopt); }

void Session::kill(bool has_forks) {
  state_ = State::dead;
  if (entering_ != 0 && interpreter_ == 0) ::kill(entering_, SIGKILL);
  if (first_.process != 0 && !has_forks)
    ::kill(first_.process, SIGKILL);  // the first process of a pid namespace takes all others with it
  else if (cgroup_)
    cgroup_->kill();
  else
    kill_tree();
}

// The interpreter last: where there are no namespaces, what its processes leave comes to it. New ones may appear while
// others end.
void Session::kill_tree() {
  std::set<pid_t> killed;
  if (interpreter_ != 0 && !reaped_) ::kill(interpreter_, SIGSTOP);
  for (bool found = true; found;) {
    found = false;
    for (const pid_t pid : processes()) {
      if (pid == interpreter_ || !killed.insert(pid).second) continue;
      ::kill(pid, SIGKILL);
      found = true;
    }
  }
  if (interpreter_ != 0 && !reaped_) ::kill(interpreter_, SIGKILL);
}

bool Session::is_gone() const {
  if (first_.process == 0) return interpreter_ == 0 || reaped_;
  pollfd ended{first_end_.get(), POLLIN, 0};
  return poll(&ended, 1, 0) == 1;
}

}  // namespace agon::sandbox::launcher
