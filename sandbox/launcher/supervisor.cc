#include "sandbox/launcher/supervisor.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "core/error.h"
#include "core/json.h"
#include "core/text.h"
#include "sandbox/launcher/outbox.h"
#include "sandbox/launcher/processes.h"
#include "sandbox/launcher/questions.h"
#include "sandbox/launcher/session.h"
#include "sandbox/launcher/session_files.h"
#include "sandbox/message.h"

namespace agon::sandbox::launcher {
namespace {

constexpr std::size_t kMostRequest = 512 << 20;  // bytes
constexpr auto kMostOpening = std::chrono::seconds(20);
constexpr auto kLockTick = std::chrono::milliseconds(5);
constexpr int kSpares = 2;  // sessions that are made before they are asked for

enum class Source : std::uint32_t { control, questions, signals, channel, out, err, reports, first };

std::uint64_t tag(Source source, int session = 0) {
  return static_cast<std::uint64_t>(source) << 32 | static_cast<std::uint32_t>(session);
}

Json::binary_t binary(std::string_view bytes) {
  return Json::binary_t(std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
}

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
  struct Held {
    std::unique_ptr<Session> session;
    std::int64_t opening = -1, running = -1, closing = -1;  // ids of requests that wait for an answer
    Clock::time_point since;
    bool killed = false;
    bool spare = false;  // nobody has asked for it yet
  };

  void watch(int descriptor, Source source, int session = 0) {
    epoll_event event{EPOLLIN, {.u64 = tag(source, session)}};
    checked(epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event), "epoll_ctl");
  }
  void on_event(std::uint64_t data);
  void on_signals();
  void end_strays();
  void on_first_ended(Held& one);
  void on_reports(int reaper);
  bool on_control();
  void on_request(const Json& request);
  void answer(std::int64_t id, Json reply);
  void refuse(std::int64_t id, const std::string& text) { answer(id, {{"error", text}}); }
  void flush_control();
  void open(std::int64_t id, const Limits& limits);
  int make(const Limits& limits, const Session* parent);
  void keep_spares();
  void settle(int id);
  void forget(Held& one);
  void settle_all();
  int wait_time() const;
  Held& held(const Json& request);
  bool has_forks(int id) const;
  bool is_of_other(pid_t pid, int id) const;
  Session* find(const std::function<bool(Session&)>& is_meant);

  Descriptor control_;
  Template template_;
  const Walls& walls_;
  Descriptor epoll_, signals_;
  FrameReader reader_{kMostRequest};
  Outbox waiting_;
  std::map<int, Held> sessions_;
  int last_ = 0;
  std::optional<Limits> spare_limits_;  // those of the last session that was opened
  bool done_ = false;
  Questions questions_{template_.questions, walls_, [this](const auto& is_meant) { return find(is_meant); }};
};

void Supervisor::run() {
  epoll_ = Descriptor(checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1"));
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  sigaddset(&signals, SIGTERM);  // the launcher has ended
  checked(sigprocmask(SIG_BLOCK, &signals, nullptr), "sigprocmask");
  signals_ = Descriptor(checked(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd"));
  watch(control_.get(), Source::control);
  watch(template_.questions.get(), Source::questions);
  watch(signals_.get(), Source::signals);
  watch(template_.channel.get(), Source::channel, 0);
  while (!done_) {
    epoll_event events[64];
    const int count = epoll_wait(epoll_.get(), events, 64, wait_time());
    for (int i = 0; i < count && !done_; ++i) on_event(events[i].data.u64);
    settle_all();
    questions_.retry_locks();
    end_strays();
    flush_control();
    keep_spares();
  }
}

int Supervisor::wait_time() const {
  auto least = std::chrono::milliseconds(10'000);
  for (const auto& [id, held] : sessions_) {
    if (held.session->state() == Session::State::busy || held.session->state() == Session::State::ready)
      least = std::min(least, held.session->wait());
    if (held.session->state() == Session::State::starting) least = std::min(least, std::chrono::milliseconds(1000));
    if (held.session->channel().waits_to_write()) least = std::min(least, std::chrono::milliseconds(1));
  }
  if (questions_.has_waiting_locks()) least = std::min(least, kLockTick);
  return static_cast<int>(waiting_.empty() ? least.count() : 1);
}

void Supervisor::on_event(std::uint64_t data) {
  const auto source = static_cast<Source>(data >> 32);
  const int id = static_cast<int>(data & 0xffffffff);
  if (source == Source::control) {
    if (!on_control()) done_ = true;
  } else if (source == Source::questions) {
    questions_.answer_next();
  } else if (source == Source::signals) {
    on_signals();
  } else if (source == Source::channel && id == 0) {
    if (!template_.channel.receive([](pid_t, std::string_view) {})) done_ = true;
  } else if (const auto found = sessions_.find(id); found != sessions_.end()) {
    Held& held = found->second;
    if (source == Source::channel) {
      held.session->on_channel();
      if (held.session->is_closed()) epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, held.session->channel().get(), nullptr);
    } else if (source == Source::reports)
      on_reports(id);
    else if (source == Source::first)
      on_first_ended(held);
    else
      held.session->on_output();
  }
}

void Supervisor::on_signals() {
  signalfd_siginfo signal{};
  while (read(signals_.get(), &signal, sizeof signal) == sizeof signal)
    if (signal.ssi_signo == SIGTERM) done_ = true;
  int status = 0;
  pid_t ended = 0;
  while ((ended = waitpid(-1, &status, WNOHANG)) > 0) {
    if (ended == template_.process) done_ = true;
    for (auto& [session, held] : sessions_) held.session->on_reaped(0, {ended, status});
  }
}

// Where there are no namespaces, what sessions that have ended leave behind comes to this process; so does an
// interpreter in the making.
void Supervisor::end_strays() {
  if (walls_.has_namespaces()) return;
  for (const auto& [id, held] : sessions_)
    if (held.session->state() == Session::State::starting) return;
  for (const pid_t child : child_processes(getpid()))
    if (child != template_.process && !is_of_other(child, 0)) ::kill(child, SIGKILL);
}

void Supervisor::on_reports(int reaper) {
  const int socket = sessions_.at(reaper).session->first().reports.get();
  Report report{};
  ssize_t got = 0;
  while ((got = recv(socket, &report, sizeof report, MSG_DONTWAIT)) == sizeof report)
    for (auto& [id, held] : sessions_) held.session->on_reaped(reaper, report);
  if (got == 0) epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, socket, nullptr);  // it has ended: nothing more comes
}

void Supervisor::on_first_ended(Held& one) {
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, one.session->first_end().get(), nullptr);
  one.session->lose("its first process ended");
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
      refuse(request->at("id"), error.what());
    }
  }
  return got > 0 && !reader_.broken();
}

Supervisor::Held& Supervisor::held(const Json& request) {
  const auto found = sessions_.find(request.at("session").get<int>());
  if (found == sessions_.end()) throw Error("there is no session {}", request.at("session").get<int>());
  return found->second;
}

void Supervisor::on_request(const Json& request) {
  const auto id = request["id"].get<std::int64_t>();
  const std::string what = request.at("do").get<std::string>();
  if (what == "open") return open(id, limits_from_json(request.at("limits")));
  Held& one = held(request);
  Session& session = *one.session;
  if (what == "close") {
    one.closing = id;
    session.lose("it was closed");
    return;
  }
  if (session.state() == Session::State::dead) return refuse(id, "the session has ended: " + session.failure());
  if (session.state() != Session::State::ready) return refuse(id, "the session is busy");
  if (what == "fork") {
    sessions_.at(make(session.limits(), &session)).opening = id;
    return;
  }
  if (what == "run") {
    one.running = id;
    session.start({text_of(request.at("code")), request.at("name"), request.at("artifacts"), request.at("pictures"),
                   request.at("wall")});
  } else if (what == "write") {
    session.write(request.at("name"), text_of(request.at("bytes")));
    answer(id, Json::object());
  } else if (what == "read") {
    answer(id, {{"bytes", binary(read_file(session.home(), request.at("name"), session.limits().file))}});
  } else {
    refuse(id, "an unknown request");
  }
}

void Supervisor::open(std::int64_t request_id, const Limits& limits) {
  spare_limits_ = limits;
  for (auto& [id, held] : sessions_) {
    if (!held.spare || held.session->state() == Session::State::dead || held.session->limits() != limits) continue;
    held.spare = false;
    held.opening = request_id;
    held.since = Clock::now();
    return;
  }
  sessions_.at(make(limits, nullptr)).opening = request_id;
}

int Supervisor::make(const Limits& limits, const Session* parent) {
  Held one;
  const int id = ++last_;
  one.session =
      std::make_unique<Session>(id, parent, limits, walls_, [this, id](pid_t pid) { return is_of_other(pid, id); });
  const Session::GuestEnds ends = one.session->make_ends();
  const FirstProcess& first = one.session->first();
  one.since = Clock::now();
  watch(one.session->channel().get(), Source::channel, id);
  watch(one.session->out(), Source::out, id);
  watch(one.session->err(), Source::err, id);
  GuestChannel& source = parent ? sessions_.at(parent->id()).session->channel() : template_.channel;
  if (walls_.has_namespaces()) {
    watch(first.reports.get(), Source::reports, id);
    watch(one.session->first_end().get(), Source::first, id);
    source.send("f", {ends.channel.get(), ends.out.get(), ends.err.get(), first.users.get(), first.mounts.get(),
                      first.pids.get()});
  } else {
    source.send("f", {ends.channel.get(), ends.out.get(), ends.err.get()});
  }
  sessions_.emplace(id, std::move(one));
  return id;
}

// One at a time, and none of another kind than what is asked for. One that cannot be made will be said to who asks.
void Supervisor::keep_spares() {
  if (!spare_limits_) return;
  int spares = 0;
  for (auto& [id, held] : sessions_) {
    if (held.session->state() == Session::State::starting) return;
    if (!held.spare) continue;
    if (held.session->limits() == *spare_limits_)
      ++spares;
    else
      held.session->lose("other limits are asked for");
  }
  try {
    if (spares < kSpares) sessions_.at(make(*spare_limits_, nullptr)).spare = true;
  } catch (const std::system_error&) {
    spare_limits_.reset();
  }
}

bool Supervisor::has_forks(int id) const {
  return std::any_of(sessions_.begin(), sessions_.end(),
                     [id](const auto& entry) { return entry.second.session->parent() == id; });
}

bool Supervisor::is_of_other(pid_t pid, int id) const {
  return std::any_of(sessions_.begin(), sessions_.end(),
                     [=](const auto& entry) { return entry.first != id && entry.second.session->owns(pid); });
}

Session* Supervisor::find(const std::function<bool(Session&)>& is_meant) {
  for (auto& [id, held] : sessions_)
    if (is_meant(*held.session)) return held.session.get();
  return nullptr;
}

void Supervisor::settle_all() {
  std::vector<int> ids;
  for (const auto& [id, held] : sessions_) ids.push_back(id);
  for (const int id : ids) settle(id);
}

// Whatever has come about in a session since the last look: answers to its requests, its end.
void Supervisor::settle(int id) {
  Held& one = sessions_.at(id);
  Session& session = *one.session;
  session.watch();
  if (session.channel().waits_to_write()) session.channel().flush();
  if (session.state() == Session::State::starting && Clock::now() - one.since > kMostOpening)
    session.lose("it did not start in time");
  if (one.opening >= 0 && session.state() == Session::State::ready)
    answer(std::exchange(one.opening, -1), {{"session", id}});
  if (auto result = session.take_result()) {
    Json reply = to_json(*result);
    reply["artifacts"] = Json::array();
    for (const Artifact& artifact : result->artifacts)
      reply["artifacts"].push_back({{"name", artifact.name}, {"bytes", binary(artifact.bytes)}});
    answer(std::exchange(one.running, -1), std::move(reply));
  }
  if (session.state() != Session::State::dead) return;
  if (one.spare) {
    one.closing = 0;
    if (spare_limits_ == session.limits()) spare_limits_.reset();  // the next would fail like this one
  }
  if (one.opening >= 0) {
    answer(std::exchange(one.opening, -1), {{"error", "the session could not be made: " + session.failure()}});
    one.closing = std::max<std::int64_t>(one.closing, 0);  // nobody knows of it
  }
  if (!one.killed) forget(one);
  const bool forks = has_forks(id);
  if (!one.killed || !forks) session.kill(forks);
  one.killed = true;
  const bool ended = session.is_gone() && !forks;
  if (one.closing < 0 || (!ended && !forks)) return;
  if (one.closing > 0) answer(std::exchange(one.closing, 0), Json::object());
  if (ended) sessions_.erase(id);  // with forks alive, it goes when the last of them has gone
}

// What a dead session's descriptors say is of no interest, but for its end.
void Supervisor::forget(Held& one) {
  for (const int descriptor : {one.session->channel().get(), one.session->out(), one.session->err()})
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, descriptor, nullptr);
}

void Supervisor::answer(std::int64_t id, Json reply) {
  if (id < 0) return;
  reply["id"] = id;
  waiting_.add(message_frame(reply));
  flush_control();
}

void Supervisor::flush_control() {
  while (!waiting_.empty()) {
    const std::string_view next = waiting_.next(1 << 20);
    const ssize_t sent = ::send(control_.get(), next.data(), next.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent <= 0) {
      if (errno != EAGAIN && errno != EINTR) done_ = true;
      return;
    }
    waiting_.sent(static_cast<std::size_t>(sent));
  }
}

}  // namespace

void supervise(Descriptor control, Template made, const Walls& walls) {
  Supervisor(std::move(control), std::move(made), walls).run();
}

}  // namespace agon::sandbox::launcher
