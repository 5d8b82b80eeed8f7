#include "sandbox/launcher/supervisor/supervisor.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <set>

#include "core/error.h"
#include "core/json.h"
#include "core/text.h"
#include "sandbox/launcher/session/guest_session.h"
#include "sandbox/launcher/session/session_files.h"
#include "sandbox/launcher/sockets.h"
#include "sandbox/launcher/supervisor/census.h"
#include "sandbox/launcher/supervisor/held_sessions.h"
#include "sandbox/launcher/supervisor/host_replies.h"
#include "sandbox/launcher/supervisor/openings.h"
#include "sandbox/launcher/supervisor/polling.h"
#include "sandbox/launcher/supervisor/processes.h"
#include "sandbox/launcher/supervisor/share.h"
#include "sandbox/launcher/supervisor/user_notifications.h"
#include "sandbox/message.h"

namespace agon::sandbox::launcher {
namespace {

constexpr std::size_t kMostRequest = 512 << 20;  // bytes
constexpr auto kMostOpening = std::chrono::seconds(20);
constexpr auto kLockTick = std::chrono::milliseconds(5);

std::string text_of(const Json& value) {
  if (!value.is_binary()) return value.get<std::string>();
  return {value.get_binary().begin(), value.get_binary().end()};
}

class Supervisor {
 public:
  Supervisor(Descriptor control, Template made, const Walls& walls)
      : control_(std::move(control)), template_(std::move(made)), walls_(walls) {}
  void run();

 private:
  bool is_done() const { return done_ || replies_.is_broken(); }
  void on_event(Source source, int id);
  void on_session_event(Source source, HeldSession& one);
  void on_signals();
  void on_child_ended(pid_t child);
  void end_strays();
  void on_reports();
  void on_template();
  bool on_control();
  void on_request(const Json& request);
  void on_session_request(std::int64_t id, const std::string& what, HeldSession& one, const Json& request);
  void settle(int id);
  void settle_dead(HeldSession& one);
  void forget(HeldSession& one);
  void settle_all();
  int wait_time() const;
  HeldSession& held(const Json& request);

  Descriptor control_;
  Template template_;
  const Walls& walls_;
  const TemplateMemory template_memory_ = TemplateMemory::of(template_.process);
  SocketPair reports_ = make_socket_pair(SOCK_SEQPACKET);
  const Surroundings surroundings_{
      walls_, template_memory_, reports_.theirs,
      [this](int session, std::chrono::milliseconds age) { return census_.processes_of(session, age); },
      [this] { return folders_of(sessions_); }};
  Polling polling_;
  Descriptor signals_;
  FrameReader reader_{kMostRequest};
  HostReplies replies_{control_};
  HeldSessions sessions_;
  std::set<pid_t> unknown_ended_;  // children that have ended, perhaps before it was known which they were
  LastCensus census_;
  Openings openings_{{sessions_, template_, walls_, surroundings_, unknown_ended_, polling_, replies_}};
  bool done_ = false;
  Questions questions_{template_.questions, walls_,
                       [this](const auto& is_meant) { return first_session(sessions_, is_meant); },
                       [this](int id) { return session_in(sessions_, id); }};
};

void Supervisor::run() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  sigaddset(&signals, SIGTERM);  // the launcher has ended
  checked(sigprocmask(SIG_BLOCK, &signals, nullptr), "sigprocmask");
  signals_ = Descriptor(checked(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd"));
  polling_.watch(control_.get(), Source::control);
  polling_.watch(template_.questions.get(), Source::questions);
  polling_.watch(signals_.get(), Source::signals);
  polling_.watch(reports_.ours.get(), Source::reports);
  polling_.watch(template_.channel.get(), Source::channel, 0);
  while (!is_done()) {
    for (const Polling::Event& event : polling_.wait(wait_time())) {
      if (is_done()) break;
      on_event(event.source, event.session);
    }
    settle_all();
    questions_.retry();
    end_strays();
    openings_.grant_wishes();
    replies_.flush();
    replies_.send_files();
    openings_.keep_spares();
  }
}

int Supervisor::wait_time() const {
  auto least = std::chrono::milliseconds(10'000);
  for (const auto& [id, held] : sessions_) {
    const GuestSession& session = *held.session;
    if (session.state() == GuestSession::State::busy || session.state() == GuestSession::State::ready)
      least = std::min(least, session.wait());
    if (session.state() == GuestSession::State::starting || session.state() == GuestSession::State::making)
      least = std::min({least, std::chrono::milliseconds(1000), session.wait()});
    if (held.session->channel().waits_to_write()) least = std::min(least, std::chrono::milliseconds(1));
    if (session.state() == GuestSession::State::dead && held.closing >= 0)
      least = std::min(least,
                       std::chrono::milliseconds(has_forks(sessions_, id) ? 100 : 5));  // until the last of it has gone
  }
  if (questions_.has_waiting_marks()) least = std::min(least, std::chrono::milliseconds(1));
  if (questions_.has_waiting_locks()) least = std::min(least, kLockTick);
  if (questions_.has_waiting_leaders()) least = std::min(least, Openings::kRetry);
  if (openings_.has_wishes()) least = std::min(least, Openings::kRetry);
  if (replies_.has_waiting()) return 1;
  return replies_.has_files() ? 0 : static_cast<int>(least.count());
}

void Supervisor::on_event(Source source, int id) {
  if (source == Source::control) {
    if (!on_control()) done_ = true;
  } else if (source == Source::questions) {
    questions_.answer_next();
  } else if (source == Source::signals) {
    on_signals();
  } else if (source == Source::reports) {
    on_reports();
  } else if (source == Source::channel && id == 0) {
    on_template();
  } else if (const auto found = sessions_.find(id); found != sessions_.end()) {
    try {
      on_session_event(source, found->second);
    } catch (const std::exception& error) {  // only this session ends
      found->second.session->end(Reason::sandbox_lost, error.what());
    }
  }
}

void Supervisor::on_session_event(Source source, HeldSession& one) {
  GuestSession& session = *one.session;
  if (source == Source::progress) return openings_.progress(one);
  if (one.forgotten) return;
  if (source != Source::channel) return session.on_output();
  session.on_channel();
  openings_.on_fork_answers(session.id(), session.take_fork_answers());
  if (session.is_closed()) polling_.unwatch(session.channel().get());
}

void Supervisor::on_template() {
  std::vector<std::string> answers;
  const bool open = template_.channel.receive([&](pid_t, std::string_view payload) {
    if (payload.starts_with('f')) answers.emplace_back(payload.substr(1));
    return true;
  });
  openings_.on_fork_answers(0, answers);
  if (!open) done_ = true;
}

void Supervisor::on_signals() {
  signalfd_siginfo signal{};
  while (read(signals_.get(), &signal, sizeof signal) == sizeof signal)
    if (signal.ssi_signo == SIGTERM) done_ = true;
  while (true) {
    siginfo_t ended{};
    if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == 0) return;
    on_child_ended(ended.si_pid);
  }
}

// Before it is waited for, its session can still be found.
void Supervisor::on_child_ended(pid_t child) {
  GuestSession* owner = session_in(sessions_, session_of_process(child));
  int status = 0;
  rusage usage{};
  if (wait4(child, &status, 0, &usage) != child) return;
  if (child == template_.process) done_ = true;
  if (owner && !owner->has_interpreter(child)) {
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    owner->on_orphan_reaped(seconds(usage.ru_utime) + seconds(usage.ru_stime));
    return;
  }
  unknown_ended_.insert(child);
  for (auto& [id, held] : sessions_) {
    if (held.session->init().process() == child) held.session->on_init_ended();
    held.session->on_reaped(0, {child, status});
  }
}

// Without namespaces, processes that ended sessions leave behind become children of this process. So does an
// interpreter in the making, which is still marked for the session that it is forked from.
void Supervisor::end_strays() {
  if (walls_.has_namespaces()) return;
  for (const auto& [id, held] : sessions_)
    if (held.session->state() == GuestSession::State::starting) return;
  for (const auto& [id, processes] : census_.sessions()) {
    const auto found = sessions_.find(id);
    if (found != sessions_.end() && found->second.session->state() != GuestSession::State::dead) continue;
    for (const pid_t process : processes)
      if (session_of_process(process) == id) ::kill(process, SIGKILL);
  }
}

void Supervisor::on_reports() {
  while (true) {
    Report report{};
    const Received got = receive_message(reports_.ours.get(), &report, sizeof report, MSG_DONTWAIT);
    if (got.size != sizeof report) return;
    for (auto& [id, held] : sessions_) held.session->on_reaped(got.sender, report);
  }
}

bool Supervisor::on_control() {
  char piece[1 << 16];
  const ssize_t got = recv(control_.get(), piece, sizeof piece, MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  reader_.feed({piece, static_cast<std::size_t>(got)});
  while (const auto payload = reader_.next()) {
    const auto request = read_message(*payload);
    if (!request || !request->value("id", Json()).is_number_integer()) return false;
    try {
      on_request(*request);
    } catch (const std::exception& error) {
      replies_.refuse(request->at("id"), error.what());
    }
  }
  return got > 0 && !reader_.broken();
}

HeldSession& Supervisor::held(const Json& request) {
  const auto found = sessions_.find(request.at("session").get<int>());
  if (found == sessions_.end()) throw Error("there is no session {}", request.at("session").get<int>());
  return found->second;
}

void Supervisor::on_request(const Json& request) {
  const auto id = request["id"].get<std::int64_t>();
  const std::string what = request.at("do").get<std::string>();
  if (what == "open")
    openings_.open(
        {id, limits_from_json(request.at("limits")), 0, request.at("seed").get<std::uint64_t>(), Clock::now()});
  else
    on_session_request(id, what, held(request), request);
}

void Supervisor::on_session_request(std::int64_t id, const std::string& what, HeldSession& one, const Json& request) {
  GuestSession& session = *one.session;
  if (what == "close") {
    one.closing = id;
    return session.end(Reason::sandbox_lost, "it was closed");
  }
  if (session.state() == GuestSession::State::dead) {
    if (what == "run") return replies_.answer(id, to_json(session.result_of_end()));
    const Result ended = session.result_of_end();
    return replies_.refuse(id, ended.text, ended.reason);
  }
  if (session.state() != GuestSession::State::ready || one.writing >= 0)
    return replies_.refuse(id, "the session is busy");
  if (what == "fork") {
    openings_.open({id, session.limits(), session.id(), request.at("seed").get<std::uint64_t>(), Clock::now()});
  } else if (what == "run") {
    one.running = id;
    session.start({text_of(request.at("code")), request.at("name"), request.at("artifacts"), request.at("pictures"),
                   request.at("show_bools"), request.at("wall")});
  } else if (what == "write") {
    session.write(request.at("name"), text_of(request.at("bytes")));
    one.writing = id;
  } else if (what == "read") {
    replies_.answer(id, {{"bytes", binary(read_file(session.home(), request.at("name"), session.limits().file))}});
  } else {
    replies_.refuse(id, "an unknown request");
  }
}

void Supervisor::settle_all() {
  std::vector<int> ids;
  bool is_making = false;
  for (const auto& [id, held] : sessions_) {
    ids.push_back(id);
    is_making = is_making || held.session->state() == GuestSession::State::making;
  }
  if (!is_making) unknown_ended_.clear();
  for (const int id : ids) try {
      settle(id);
    } catch (const std::exception& error) {
      sessions_.at(id).session->end(Reason::sandbox_lost, error.what());
    }
}

// Handles what has happened in a session since the last look: answers to its requests, its end.
void Supervisor::settle(int id) {
  HeldSession& one = sessions_.at(id);
  GuestSession& session = *one.session;
  session.watch();
  if (session.channel().waits_to_write()) session.channel().flush();
  const bool begins =
      session.state() == GuestSession::State::starting || session.state() == GuestSession::State::making;
  if (begins && Clock::now() - one.since > kMostOpening)
    session.end(session.parent() ? Reason::wall_timeout : Reason::sandbox_lost, "it did not start in time");
  if (one.opening >= 0 && session.state() == GuestSession::State::ready) {
    session.seed(one.seed);
    replies_.answer(std::exchange(one.opening, -1), {{"session", id}});
  }
  if (const auto written = session.take_write()) {
    const std::int64_t request = std::exchange(one.writing, -1);
    written->error == 0 ? replies_.answer(request, Json::object()) : replies_.refuse(request, written->text);
  }
  if (const auto result = session.take_result())
    replies_.answer_result(std::exchange(one.running, -1), *result, session.take_files());
  if (session.state() == GuestSession::State::dead) settle_dead(one);
}

void Supervisor::settle_dead(HeldSession& one) {
  GuestSession& session = *one.session;
  const int id = session.id();
  if (one.spare && one.closing < 0) {
    one.closing = 0;
    openings_.on_spare_failed(session.limits());
  }
  if (one.opening >= 0) {
    replies_.refuse(std::exchange(one.opening, -1), "the session could not be made: " + session.end().text,
                    session.end().reason);
    one.closing = std::max<std::int64_t>(one.closing, 0);  // the host does not know of it
  }
  if (one.writing >= 0) replies_.refuse(std::exchange(one.writing, -1), session.end().text, session.end().reason);
  const bool forks = has_forks(sessions_, id);
  if (!one.killed || !forks || session.has_stragglers()) session.kill(forks);
  one.killed = true;
  if (!one.forgotten) forget(one);  // only after kill(): closing its channel would wake the interpreter up to exit
  const bool ended = session.is_gone() && !forks;
  if (one.closing < 0 || (!ended && !forks)) return;
  const bool removed = ended && session.remove_files();
  if (one.closing > 0) replies_.answer(std::exchange(one.closing, 0), Json::object());
  if (!removed) return;  // while forks live, it stays until the last of them is gone
  openings_.forget(id);
  sessions_.erase(id);
}

// Events on a dead session's descriptors do not matter.
void Supervisor::forget(HeldSession& one) {
  GuestSession& session = *one.session;
  for (const int descriptor : {session.channel().get(), session.out(), session.err()})
    if (descriptor >= 0) polling_.unwatch(descriptor);
  session.close_descriptors();
  one.forgotten = true;
}

}  // namespace

void supervise(Descriptor control, Template made, const Walls& walls) {
  take_own_share();
  wake_soon();
  Supervisor(std::move(control), std::move(made), walls).run();
}

}  // namespace agon::sandbox::launcher
