#include "sandbox/launcher/supervisor/openings.h"

#include <fmt/format.h>

#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

namespace agon::sandbox::launcher {
namespace {

constexpr auto kMostWaiting = std::chrono::seconds(60);  // for room
constexpr int kSpares = 2;                               // sessions that are made in advance

// Whether the machine lacks some resource at the moment.
bool is_lack(const std::system_error& error) {
  const int code = error.code().value();
  return code == EMFILE || code == ENFILE || code == EAGAIN || code == ENOMEM || code == ENOSPC || code == EUSERS;
}

}  // namespace

void Openings::open(const SessionWish& wish) {
  if (wish.parent == 0) {
    spare_limits_ = wish.limits;
    for (auto& [id, held] : parts_.sessions) {
      if (!held.spare || held.session->state() == GuestSession::State::dead || held.session->limits() != wish.limits)
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

// Grants requests in their order: none overtakes one that waits.
void Openings::grant_wishes() {
  if (wishes_.empty() || Clock::now() < next_wish_) return;
  next_wish_ = Clock::now() + kRetry;
  while (!wishes_.empty()) {
    const SessionWish& wish = wishes_.front();
    if (Clock::now() - wish.since > kMostWaiting)
      parts_.replies.refuse(
          wish.request,
          fmt::format("no room for another session within {} s: {} are open, and there is room for {} (ulimit -n). "
                      "Close some, or raise the limit",
                      kMostWaiting.count(), living(parts_.sessions), parts_.walls.room));
    else if (!grant(wish))
      return;
    wishes_.pop_front();
  }
}

// False if it has to wait for others to end. A request that can never be granted is refused.
bool Openings::grant(const SessionWish& wish) try {
  GuestSession* parent = wish.parent ? session_in(parts_.sessions, wish.parent) : nullptr;
  if (wish.parent != 0 && (!parent || parent->state() == GuestSession::State::dead)) {
    const Result ended = parent ? parent->result_of_end() : Result();
    parts_.replies.refuse(wish.request, parent ? ended.text : "the session was closed", ended.reason);
    return true;
  }
  if (living(parts_.sessions) >= parts_.walls.room && !drop_spare()) return false;
  HeldSession& one = parts_.sessions.at(make(wish.limits, parent));
  one.opening = wish.request;
  one.seed = wish.seed;
  return true;
} catch (const std::system_error& error) {
  if (is_lack(error) && living(parts_.sessions) > (wish.parent ? 1 : 0)) return false;
  const bool by_code = wish.parent != 0 && !is_lack(error);  // guest code may have obstructed it
  parts_.replies.refuse(wish.request, fmt::format("the session could not be made: {}", error.what()),
                        by_code ? Reason::protocol_error : Reason::sandbox_lost);
  return true;
}

int Openings::make(const Limits& limits, GuestSession* parent) {
  const int id = ++last_;  // never reused, even if the session cannot be made
  HeldSession one;
  one.since = Clock::now();
  one.session = std::make_unique<GuestSession>(id, parent, limits, parts_.surroundings);
  HeldSession& made = parts_.sessions.emplace(id, std::move(one)).first->second;
  if (made.session->progress() >= 0)
    parts_.polling.watch(made.session->progress(), Source::progress, id);
  else
    progress(made);
  return id;
}

void Openings::progress(HeldSession& one) {
  GuestSession& session = *one.session;
  if (session.state() != GuestSession::State::making) return;
  if (session.on_progress()) fork_interpreter(one);
  if (session.init().process() != 0 && parts_.unknown_ended.contains(session.init().process())) session.on_init_ended();
}

void Openings::fork_interpreter(HeldSession& one) {
  GuestSession& made = *one.session;
  GuestSession* parent = made.parent() ? session_in(parts_.sessions, made.parent()) : nullptr;
  if (made.parent() != 0 && (!parent || parent->state() == GuestSession::State::dead))
    return made.end(Reason::process_limit, "the session that it is forked from has ended");
  const GuestSession::GuestEnds ends = made.make_ends();
  parts_.polling.watch(made.channel().get(), Source::channel, made.id());
  parts_.polling.watch(made.out(), Source::out, made.id());
  parts_.polling.watch(made.err(), Source::err, made.id());
  GuestChannel& source = parent ? parent->channel() : parts_.source.channel;
  if (parent) parent->expect_fork_answer();
  forking_[made.parent()].push_back(made.id());
  if (parts_.walls.has_namespaces()) {
    const InitProcess::Namespaces& own = made.namespaces();
    source.send(
        "f", {ends.channel.get(), ends.out.get(), ends.err.get(), own.users.get(), own.mounts.get(), own.pids.get()});
  } else {
    source.send("f", {ends.channel.get(), ends.out.get(), ends.err.get()});
  }
}

// Answers come in the order of the requests.
void Openings::on_fork_answers(int source, const std::vector<std::string>& answers) {
  for (const std::string& text : answers) {
    std::deque<int>& asked = forking_[source];
    if (asked.empty()) return;
    GuestSession* made = session_in(parts_.sessions, asked.front());
    asked.pop_front();
    if (made && !text.empty() && made->state() == GuestSession::State::starting)
      made->end(source == 0 ? Reason::sandbox_lost : Reason::process_limit, text);
  }
}

// Keeps spare sessions with the limits that were requested last. If one cannot be made, the next request reports the
// reason.
void Openings::keep_spares() {
  if (!spare_limits_ || !wishes_.empty()) return;
  int spares = 0;
  for (auto& [id, held] : parts_.sessions) {
    if (!held.spare || held.session->state() == GuestSession::State::dead) continue;
    if (held.session->limits() == *spare_limits_)
      ++spares;
    else
      held.session->end(Reason::sandbox_lost, "other limits are asked for");
  }
  try {
    for (; spares < kSpares && living(parts_.sessions) + kSpares <= parts_.walls.room; ++spares)
      parts_.sessions.at(make(*spare_limits_, nullptr)).spare = true;
  } catch (const std::system_error&) {
    spare_limits_.reset();
  }
}

void Openings::on_spare_failed(const Limits& limits) {
  if (spare_limits_ == limits) spare_limits_.reset();  // the next would fail like this one
}

// Ends one spare session to make room for a requested one. False if there is no spare session.
bool Openings::drop_spare() {
  for (auto& [id, held] : parts_.sessions) {
    if (!held.spare || held.session->state() == GuestSession::State::dead) continue;
    held.session->end(Reason::sandbox_lost, "there is no room for it");
    held.closing = 0;  // not a failure: other spare sessions may be made
    return true;
  }
  return false;
}

}  // namespace agon::sandbox::launcher
