#include "sandbox/connection.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include "sandbox/frame.h"
#include "sandbox/message.h"

namespace agon::sandbox {
namespace {

constexpr std::size_t kMostReply = 1u << 30;

std::optional<Json> next_message(int socket, FrameReader& reader) {
  std::array<char, 1 << 16> piece;
  while (true) {
    if (const auto payload = reader.next()) return read_message(*payload);
    const ssize_t got = recv(socket, piece.data(), piece.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || reader.broken()) return std::nullopt;
    reader.feed({piece.data(), static_cast<std::size_t>(got)});
  }
}

}  // namespace

Connection::Connection(Descriptor socket) : socket_(std::move(socket)) {}

Connection::~Connection() {
  shutdown(socket_.get(), SHUT_RDWR);
  if (reader_.joinable()) reader_.join();
}

void Connection::send(const Json& message) {
  const std::string frame = message_frame(message);
  const std::lock_guard lock(writing_);
  for (std::size_t at = 0; at < frame.size();) {
    const ssize_t sent = ::send(socket_.get(), frame.data() + at, frame.size() - at, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return;
    at += static_cast<std::size_t>(sent);
  }
}

std::optional<Json> Connection::receive() {
  FrameReader reader(kMostReply);
  return next_message(socket_.get(), reader);
}

std::optional<Json> Connection::ask(Json request) {
  std::unique_lock lock(mutex_);
  if (!reader_.joinable()) reader_ = std::thread([this] { read_replies(); });
  const std::int64_t id = ++last_;
  request["id"] = id;
  Reply& reply = replies_[id];
  lock.unlock();
  send(request);
  lock.lock();
  arrived_.wait(lock, [&] { return reply.message.has_value() || closed_; });
  std::optional<Json> answer = std::move(reply.message);
  if (answer) (*answer)["artifacts"] = std::move(reply.artifacts);
  replies_.erase(id);
  return answer;
}

bool Connection::closed() {
  const std::lock_guard lock(mutex_);
  return closed_;
}

// A piece of a file, or a reply.
void Connection::take(Json message) {
  const auto found = replies_.find(message.value("id", std::int64_t{0}));
  if (found == replies_.end()) return;
  if (!message.contains("artifact")) {
    found->second.message = std::move(message);
    return;
  }
  Json& files = found->second.artifacts;
  const auto at = message.at("artifact").get<std::size_t>();
  if (at == files.size()) files.push_back({{"name", message.at("name")}, {"bytes", Json::binary({})}});
  const auto& piece = message.at("bytes").get_binary();
  auto& bytes = files.at(at).at("bytes").get_binary();
  bytes.insert(bytes.end(), piece.begin(), piece.end());
}

void Connection::read_replies() {
  FrameReader reader(kMostReply);
  while (auto message = next_message(socket_.get(), reader)) {
    const std::lock_guard lock(mutex_);
    take(std::move(*message));
    arrived_.notify_all();
  }
  const std::lock_guard lock(mutex_);
  closed_ = true;
  arrived_.notify_all();
}

}  // namespace agon::sandbox
