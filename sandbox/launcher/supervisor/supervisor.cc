#include "sandbox/launcher/supervisor/supervisor.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "core/error.h"
#include "core/json.h"
#include "core/text.h"
#include "sandbox/launcher/session/session.h"
#include "sandbox/launcher/session/session_files.h"
#include "sandbox/launcher/sockets.h"
#include "sandbox/launcher/supervisor/census.h"
#include "sandbox/launcher/supervisor/host_replies.h"
#include "sandbox/launcher/supervisor/processes.h"
#include "sandbox/launcher/supervisor/share.h"
#include "sandbox/launcher/supervisor/user_notifications.h"
#include "sandbox/message.h"

namespace agon::sandbox::launcher {
namespace {

constexpr std::size_t kMostRequest = 512 << 20;  // bytes
constexpr auto kMostOpening = std::chrono::seconds(20);
constexpr auto kMostWaiting = std::chrono::seconds(60);  // for room
constexpr auto kRetry = std::chrono::milliseconds(20);   // of what found no room
constexpr auto kLockTick = std::chrono::milliseconds(5);
constexpr int kSpares = 2;  // sessions that are made before they are asked for

enum class Source : std::uint32_t { control, questions, signals, reports, channel, out, err, progress };

std::uint64_t tag(Source source, int session = 0) {
  return static_cast<std::uint64_t>(source) << 32 | static_cast<std::uint32_t>(session);
}

std::string text_of(const Json& value) {
  if (!value.is_binary()) return value.get<std::string>();
  return {value.get_binary().begin(), value.get_binary().end()};
}

// The machine has not enough of something at the moment.
bool is_lack(const std::system_error& error) {
  const int code = error.code().value();
  return code == EMFILE || code == ENFILE || code == EAGAIN || code == ENOMEM || code == ENOSPC || code == EUSERS;
}

class Supervisor {
 public:
  Supervisor(Descriptor control, Template made, const Walls& walls)
      : control_(std::move(control)), template_(std::move(made)), walls_(walls) {}
  void run();

 private:
  struct Held {
    std::unique_ptr<Session> session;
    std::int64_t opening = -1, running = -1, writing = -1, closing = -1;  // ids of requests that wait for an answer
    std::uint64_t seed = 0;
    Clock::time_point since;
    bool killed = false, forgotten = false;
    bool spare = false;  // nobody has asked for it yet
  };
  // A session that is asked for and not begun.
  struct Wish {
    std::int64_t request = -1;
    Limits limits;
    int parent = 0;  // the session to fork; 0: none
    std::uint64_t seed = 0;
    Clock::time_point since;
  };

  void watch(int descriptor, Source source, int session = 0) {
    epoll_event event{EPOLLIN, {.u64 = tag(source, session)}};
    checked(epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event), "epoll_ctl");
  }
  void unwatch(int descriptor) { epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, descriptor, nullptr); }
  bool is_done() const { return done_ || replies_.is_broken(); }
  void on_event(std::uint64_t data);
  void on_session_event(Source source, Held& one);
  void on_signals();
  void on_child_ended(pid_t child);
  void end_strays();
  void on_reports();
  void on_template();
  bool on_control();
  void on_request(const Json& request);
  void on_session_request(std::int64_t id, const std::string& what, Held& one, const Json& request);
  void open(const Wish& wish);
  void grant_wishes();
  bool grant(const Wish& wish);
  int make(const Limits& limits, Session* parent);
  void progress(Held& one);
  void fork_interpreter(Held& one);
  void on_fork_answers(int source, const std::vector<std::string>& answers);
  void keep_spares();
  void settle(int id);
  void settle_dead(Held& one);
  void forget(Held& one);
  void settle_all();
  int wait_time() const;
  Held& held(const Json& request);
  bool has_forks(int id) const;
  int living() const;
  bool drop_spare();
  Session* find(const std::function<bool(Session&)>& is_meant);
  Session* session(int id);
  std::vector<Folder::Identity> folders() const;

  Descriptor control_;
  Template template_;
  const Walls& walls_;
  const TemplateMemory template_memory_ = TemplateMemory::of(template_.process);
  SocketPair reports_ = make_socket_pair(SOCK_SEQPACKET);
  const Surroundings surroundings_{
      walls_, template_memory_, reports_.theirs,
      [this](int session, std::chrono::milliseconds age) { return census_.processes_of(session, age); },
      [this] { return folders(); }};
  Descriptor epoll_, signals_;
  FrameReader reader_{kMostRequest};
  HostReplies replies_{control_};
  std::map<int, Held> sessions_;
  std::map<int, std::deque<int>> forking_;  // by whom (0: the template): the sessions that it was asked for, in order
  std::deque<Wish> wishes_;
  Clock::time_point next_wish_;
  std::set<pid_t> unknown_ended_;  // children that have ended, perhaps before it was known which they were
  LastCensus census_;
  int last_ = 0;
  std::optional<Limits> spare_limits_;  // those of the last session that was opened
  bool done_ = false;
  Questions questions_{template_.questions, walls_, [this](const auto& is_meant) { return find(is_meant); },
                       [this](int id) { return session(id); }};
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
  watch(reports_.ours.get(), Source::reports);
  watch(template_.channel.get(), Source::channel, 0);
  while (!is_done()) {
    epoll_event events[64];
    const int count = epoll_wait(epoll_.get(), events, 64, wait_time());
    for (int i = 0; i < count && !is_done(); ++i) on_event(events[i].data.u64);
    settle_all();
    questions_.retry();
    end_strays();
    grant_wishes();
    replies_.flush();
    replies_.send_files();
    keep_spares();
  }
}

int Supervisor::wait_time() const {
  auto least = std::chrono::milliseconds(10'000);
  for (const auto& [id, held] : sessions_) {
    const Session& session = *held.session;
    if (session.state() == Session::State::busy || session.state() == Session::State::ready)
      least = std::min(least, session.wait());
    if (session.state() == Session::State::starting || session.state() == Session::State::making)
      least = std::min({least, std::chrono::milliseconds(1000), session.wait()});
    if (held.session->channel().waits_to_write()) least = std::min(least, std::chrono::milliseconds(1));
    if (session.state() == Session::State::dead && held.closing >= 0)
      least = std::min(least, std::chrono::milliseconds(has_forks(id) ? 100 : 5));  // until the last of it has gone
  }
  if (questions_.has_waiting_marks()) least = std::min(least, std::chrono::milliseconds(1));
  if (questions_.has_waiting_locks()) least = std::min(least, kLockTick);
  if (questions_.has_waiting_leaders()) least = std::min(least, kRetry);
  if (!wishes_.empty()) least = std::min(least, kRetry);
  if (replies_.has_waiting()) return 1;
  return replies_.has_files() ? 0 : static_cast<int>(least.count());
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
  } else if (source == Source::reports) {
    on_reports();
  } else if (source == Source::channel && id == 0) {
    on_template();
  } else if (const auto found = sessions_.find(id); found != sessions_.end()) {
    try {
      on_session_event(source, found->second);
    } catch (const std::exception& error) {  // of one session: it alone ends
      found->second.session->end(Reason::sandbox_lost, error.what());
    }
  }
}

void Supervisor::on_session_event(Source source, Held& one) {
  Session& session = *one.session;
  if (source == Source::progress) return progress(one);
  if (one.forgotten) return;
  if (source != Source::channel) return session.on_output();
  session.on_channel();
  on_fork_answers(session.id(), session.take_fork_answers());
  if (session.is_closed()) unwatch(session.channel().get());
}

void Supervisor::on_template() {
  std::vector<std::string> answers;
  const bool open = template_.channel.receive([&](pid_t, std::string_view payload) {
    if (payload.starts_with('f')) answers.emplace_back(payload.substr(1));
    return true;
  });
  on_fork_answers(0, answers);
  if (!open) done_ = true;
}

// They come in the order of the requests.
void Supervisor::on_fork_answers(int source, const std::vector<std::string>& answers) {
  for (const std::string& text : answers) {
    std::deque<int>& asked = forking_[source];
    if (asked.empty()) return;
    Session* made = session(asked.front());
    asked.pop_front();
    if (made && !text.empty() && made->state() == Session::State::starting)
      made->end(source == 0 ? Reason::sandbox_lost : Reason::process_limit, text);
  }
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

// Until it is waited for it can still be asked which session it was of.
void Supervisor::on_child_ended(pid_t child) {
  Session* owner = session(session_of_process(child));
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
    if (held.session->first().process() == child) held.session->on_first_ended();
    held.session->on_reaped(0, {child, status});
  }
}

// Where there are no namespaces, what sessions that have ended leave behind comes to this process; so does an
// interpreter in the making, which is marked for the session that it is forked from.
void Supervisor::end_strays() {
  if (walls_.has_namespaces()) return;
  for (const auto& [id, held] : sessions_)
    if (held.session->state() == Session::State::starting) return;
  for (const auto& [id, processes] : census_.sessions()) {
    const auto found = sessions_.find(id);
    if (found != sessions_.end() && found->second.session->state() != Session::State::dead) continue;
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

Supervisor::Held& Supervisor::held(const Json& request) {
  const auto found = sessions_.find(request.at("session").get<int>());
  if (found == sessions_.end()) throw Error("there is no session {}", request.at("session").get<int>());
  return found->second;
}

void Supervisor::on_request(const Json& request) {
  const auto id = request["id"].get<std::int64_t>();
  const std::string what = request.at("do").get<std::string>();
  if (what == "open")
    open({id, limits_from_json(request.at("limits")), 0, request.at("seed").get<std::uint64_t>(), Clock::now()});
  else
    on_session_request(id, what, held(request), request);
}

void Supervisor::on_session_request(std::int64_t id, const std::string& what, Held& one, const Json& request) {
  Session& session = *one.session;
  if (what == "close") {
    one.closing = id;
    return session.end(Reason::sandbox_lost, "it was closed");
  }
  if (session.state() == Session::State::dead) {
    if (what == "run") return replies_.answer(id, to_json(session.result_of_end()));
    const Result ended = session.result_of_end();
    return replies_.refuse(id, ended.text, ended.reason);
  }
  if (session.state() != Session::State::ready || one.writing >= 0) return replies_.refuse(id, "the session is busy");
  if (what == "fork") {
    open({id, session.limits(), session.id(), request.at("seed").get<std::uint64_t>(), Clock::now()});
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

void Supervisor::open(const Wish& wish) {
  if (wish.parent == 0) {
    spare_limits_ = wish.limits;
    for (auto& [id, held] : sessions_) {
      if (!held.spare || held.session->state() == Session::State::dead || held.session->limits() != wish.limits)
        continue;
      held.spare = false;
      held.opening = wish.request;
      held.seed = wish.seed;
      held.since = Clock::now();
      return;
    }
  }
  if (!wishes_.empty() || !grant(wish)) wishes_.push_back(wish);
}

// In the order in which they came; none passes one that waits.
void Supervisor::grant_wishes() {
  if (wishes_.empty() || Clock::now() < next_wish_) return;
  next_wish_ = Clock::now() + kRetry;
  while (!wishes_.empty()) {
    const Wish& wish = wishes_.front();
    if (Clock::now() - wish.since > kMostWaiting)
      replies_.refuse(
          wish.request,
          fmt::format("no room for another session within {} s: {} are open, and there is room for {} (ulimit -n). "
                      "Close some, or raise the limit",
                      kMostWaiting.count(), living(), walls_.room));
    else if (!grant(wish))
      return;
    wishes_.pop_front();
  }
}

// False where it has to wait for others to end; what cannot be granted at all is refused.
bool Supervisor::grant(const Wish& wish) try {
  Session* parent = wish.parent ? session(wish.parent) : nullptr;
  if (wish.parent != 0 && (!parent || parent->state() == Session::State::dead)) {
    const Result ended = parent ? parent->result_of_end() : Result();
    replies_.refuse(wish.request, parent ? ended.text : "the session was closed", ended.reason);
    return true;
  }
  if (living() >= walls_.room && !drop_spare()) return false;
  Held& one = sessions_.at(make(wish.limits, parent));
  one.opening = wish.request;
  one.seed = wish.seed;
  return true;
} catch (const std::system_error& error) {
  if (is_lack(error) && living() > (wish.parent ? 1 : 0)) return false;
  const bool by_code = wish.parent != 0 && !is_lack(error);  // it may have put something in the way
  replies_.refuse(wish.request, fmt::format("the session could not be made: {}", error.what()),
                  by_code ? Reason::protocol_error : Reason::sandbox_lost);
  return true;
}

int Supervisor::make(const Limits& limits, Session* parent) {
  const int id = ++last_;  // once, also of one that cannot be made
  Held one;
  one.since = Clock::now();
  one.session = std::make_unique<Session>(id, parent, limits, surroundings_);
  Held& made = sessions_.emplace(id, std::move(one)).first->second;
  if (made.session->progress() >= 0)
    watch(made.session->progress(), Source::progress, id);
  else
    progress(made);
  return id;
}

void Supervisor::progress(Held& one) {
  Session& session = *one.session;
  if (session.state() != Session::State::making) return;
  if (session.on_progress()) fork_interpreter(one);
  if (session.first().process() != 0 && unknown_ended_.contains(session.first().process())) session.on_first_ended();
}

void Supervisor::fork_interpreter(Held& one) {
  Session& made = *one.session;
  Session* parent = made.parent() ? session(made.parent()) : nullptr;
  if (made.parent() != 0 && (!parent || parent->state() == Session::State::dead))
    return made.end(Reason::process_limit, "the session that it is forked from has ended");
  const Session::GuestEnds ends = made.make_ends();
  watch(made.channel().get(), Source::channel, made.id());
  watch(made.out(), Source::out, made.id());
  watch(made.err(), Source::err, made.id());
  GuestChannel& source = parent ? parent->channel() : template_.channel;
  if (parent) parent->expect_fork_answer();
  forking_[made.parent()].push_back(made.id());
  if (walls_.has_namespaces()) {
    const FirstProcess::Namespaces& own = made.namespaces();
    source.send(
        "f", {ends.channel.get(), ends.out.get(), ends.err.get(), own.users.get(), own.mounts.get(), own.pids.get()});
  } else {
    source.send("f", {ends.channel.get(), ends.out.get(), ends.err.get()});
  }
}

// Of no other kind than what is asked for. One that cannot be made will be said to who asks.
void Supervisor::keep_spares() {
  if (!spare_limits_ || !wishes_.empty()) return;
  int spares = 0;
  for (auto& [id, held] : sessions_) {
    if (!held.spare || held.session->state() == Session::State::dead) continue;
    if (held.session->limits() == *spare_limits_)
      ++spares;
    else
      held.session->end(Reason::sandbox_lost, "other limits are asked for");
  }
  try {
    for (; spares < kSpares && living() + kSpares <= walls_.room; ++spares)
      sessions_.at(make(*spare_limits_, nullptr)).spare = true;
  } catch (const std::system_error&) {
    spare_limits_.reset();
  }
}

bool Supervisor::has_forks(int id) const {
  return std::any_of(sessions_.begin(), sessions_.end(),
                     [id](const auto& entry) { return entry.second.session->parent() == id; });
}

int Supervisor::living() const {
  return static_cast<int>(std::count_if(sessions_.begin(), sessions_.end(), [](const auto& entry) {
    return entry.second.session->state() != Session::State::dead;
  }));
}

// Makes room for who asks. False where there is no spare.
bool Supervisor::drop_spare() {
  for (auto& [id, held] : sessions_) {
    if (!held.spare || held.session->state() == Session::State::dead) continue;
    held.session->end(Reason::sandbox_lost, "there is no room for it");
    held.closing = 0;  // it has not failed: others like it may be made
    return true;
  }
  return false;
}

Session* Supervisor::find(const std::function<bool(Session&)>& is_meant) {
  for (auto& [id, held] : sessions_)
    if (is_meant(*held.session)) return held.session.get();
  return nullptr;
}

Session* Supervisor::session(int id) {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : found->second.session.get();
}

std::vector<Folder::Identity> Supervisor::folders() const {
  std::vector<Folder::Identity> all;
  for (const auto& [id, held] : sessions_)
    if (held.session->folder() && held.session->state() != Session::State::dead)
      all.push_back(held.session->folder()->identity());
  return all;
}

void Supervisor::settle_all() {
  std::vector<int> ids;
  bool is_making = false;
  for (const auto& [id, held] : sessions_) {
    ids.push_back(id);
    is_making = is_making || held.session->state() == Session::State::making;
  }
  if (!is_making) unknown_ended_.clear();
  for (const int id : ids) try {
      settle(id);
    } catch (const std::exception& error) {
      sessions_.at(id).session->end(Reason::sandbox_lost, error.what());
    }
}

// Whatever has come about in a session since the last look: answers to its requests, its end.
void Supervisor::settle(int id) {
  Held& one = sessions_.at(id);
  Session& session = *one.session;
  session.watch();
  if (session.channel().waits_to_write()) session.channel().flush();
  const bool begins = session.state() == Session::State::starting || session.state() == Session::State::making;
  if (begins && Clock::now() - one.since > kMostOpening)
    session.end(session.parent() ? Reason::wall_timeout : Reason::sandbox_lost, "it did not start in time");
  if (one.opening >= 0 && session.state() == Session::State::ready) {
    session.seed(one.seed);
    replies_.answer(std::exchange(one.opening, -1), {{"session", id}});
  }
  if (const auto written = session.take_write()) {
    const std::int64_t request = std::exchange(one.writing, -1);
    written->error == 0 ? replies_.answer(request, Json::object()) : replies_.refuse(request, written->text);
  }
  if (const auto result = session.take_result())
    replies_.answer_result(std::exchange(one.running, -1), *result, session.take_files());
  if (session.state() == Session::State::dead) settle_dead(one);
}

void Supervisor::settle_dead(Held& one) {
  Session& session = *one.session;
  const int id = session.id();
  if (one.spare && one.closing < 0) {
    one.closing = 0;
    if (spare_limits_ == session.limits()) spare_limits_.reset();  // the next would fail like this one
  }
  if (one.opening >= 0) {
    replies_.refuse(std::exchange(one.opening, -1), "the session could not be made: " + session.end().text,
                    session.end().reason);
    one.closing = std::max<std::int64_t>(one.closing, 0);  // nobody knows of it
  }
  if (one.writing >= 0) replies_.refuse(std::exchange(one.writing, -1), session.end().text, session.end().reason);
  const bool forks = has_forks(id);
  if (!one.killed || !forks || session.has_stragglers()) session.kill(forks);
  one.killed = true;
  if (!one.forgotten) forget(one);  // killed first: an interpreter whose channel closes would wake up to leave
  const bool ended = session.is_gone() && !forks;
  if (one.closing < 0 || (!ended && !forks)) return;
  const bool removed = ended && session.remove_files();
  if (one.closing > 0) replies_.answer(std::exchange(one.closing, 0), Json::object());
  if (!removed) return;  // with forks alive, it goes when the last of them has gone
  forking_.erase(id);
  sessions_.erase(id);
}

// What a dead session's descriptors say is of no interest.
void Supervisor::forget(Held& one) {
  Session& session = *one.session;
  for (const int descriptor : {session.channel().get(), session.out(), session.err()})
    if (descriptor >= 0) unwatch(descriptor);
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
