#include "sandbox/launcher/session/guest_channel.h"

#include <sys/socket.h>

#include <array>

#include "sandbox/launcher/session/guest_protocol.h"
#include "sandbox/launcher/sockets.h"

namespace agon::sandbox::launcher {
namespace {

constexpr int kMostReads = 4;  // at a time: a guest that writes without end must not keep others waiting

}  // namespace

std::pair<GuestChannel, Descriptor> GuestChannel::make() {
  SocketPair pair = make_socket_pair(SOCK_STREAM);
  GuestChannel channel;
  channel.socket_ = std::move(pair.ours);
  channel.reader_ = FrameReader(kMostGuestFrame);
  return {std::move(channel), std::move(pair.theirs)};
}

void GuestChannel::send(std::string_view payload, std::initializer_list<int> descriptors) {
  std::string frame = make_frame(payload);
  if (descriptors.size() > 0) {
    const ssize_t sent = send_message(socket_.get(), frame, descriptors, MSG_DONTWAIT);
    if (sent > 0) frame.erase(0, static_cast<std::size_t>(sent));
  }
  waiting_.add(frame);
  flush();
}

void GuestChannel::flush() {
  while (!waiting_.empty()) {
    const ssize_t sent = send_message(socket_.get(), waiting_.next(1 << 18), {}, MSG_DONTWAIT);
    if (sent <= 0) {
      if (errno != EAGAIN && errno != EINTR) waiting_.clear();  // closed: the next read reports it
      return;
    }
    waiting_.sent(static_cast<std::size_t>(sent));
  }
}

bool GuestChannel::receive(const std::function<bool(pid_t, std::string_view)>& on_frame) {
  for (int reads = 0; reads < kMostReads; ++reads) {
    std::array<char, 4096> piece;
    // Descriptors that a guest sends are closed unused.
    const Received got = receive_message(socket_.get(), piece.data(), piece.size(), MSG_DONTWAIT);
    if (got.size < 0 && errno == EAGAIN) return true;
    if (got.size <= 0) return false;
    if (partial_ && got.sender != sender_) return false;
    sender_ = got.sender;
    reader_.feed({piece.data(), static_cast<std::size_t>(got.size)});
    while (const auto payload = reader_.next())
      if (!on_frame(sender_, *payload)) return true;
    if (reader_.broken()) return false;
    partial_ = reader_.holds_some();
  }
  return true;
}

}  // namespace agon::sandbox::launcher
