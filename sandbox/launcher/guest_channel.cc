#include "sandbox/launcher/guest_channel.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <array>
#include <cstring>

#include "sandbox/launcher/guest_protocol.h"

namespace agon::sandbox::launcher {
namespace {

union Control {
  cmsghdr header;
  char bytes[256];
};

ssize_t send_with(int socket, std::string_view bytes, std::initializer_list<int> descriptors) {
  iovec piece{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  Control control{};
  if (descriptors.size() > 0) {
    const std::size_t size = descriptors.size() * sizeof(int);
    message.msg_control = control.bytes;
    message.msg_controllen = CMSG_SPACE(size);
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(size);
    std::memcpy(CMSG_DATA(header), descriptors.begin(), size);
  }
  return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

// Who sent what recvmsg just gave. Descriptors that a guest sends are closed unseen.
pid_t sender_of(msghdr& message) {
  pid_t sender = 0;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET) continue;
    if (header->cmsg_type == SCM_CREDENTIALS) {
      ucred credentials{};
      std::memcpy(&credentials, CMSG_DATA(header), sizeof credentials);
      sender = credentials.pid;
    } else if (header->cmsg_type == SCM_RIGHTS) {
      for (std::size_t at = 0; at + sizeof(int) <= header->cmsg_len - CMSG_LEN(0); at += sizeof(int)) {
        int descriptor = -1;
        std::memcpy(&descriptor, CMSG_DATA(header) + at, sizeof descriptor);
        close(descriptor);
      }
    }
  }
  return sender;
}

}  // namespace

std::pair<GuestChannel, Descriptor> GuestChannel::make() {
  int ends[2];
  checked(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), "socketpair");
  GuestChannel channel;
  channel.socket_ = Descriptor(ends[0]);
  channel.reader_ = FrameReader(kMostGuestFrame);
  Descriptor other(ends[1]);
  const int on = 1;
  checked(setsockopt(ends[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on), "SO_PASSCRED");
  return {std::move(channel), std::move(other)};
}

void GuestChannel::send(std::string_view payload, std::initializer_list<int> descriptors) {
  std::string frame = make_frame(payload);
  if (descriptors.size() > 0) {
    const ssize_t sent = send_with(socket_.get(), frame, descriptors);
    if (sent > 0) frame.erase(0, static_cast<std::size_t>(sent));
  }
  waiting_ += frame;
  flush();
}

void GuestChannel::flush() {
  while (!waiting_.empty()) {
    const ssize_t sent = send_with(socket_.get(), std::string_view(waiting_).substr(0, 1 << 18), {});
    if (sent <= 0) {
      if (errno != EAGAIN && errno != EINTR) waiting_.clear();  // closed: reading tells
      return;
    }
    waiting_.erase(0, static_cast<std::size_t>(sent));
  }
}

bool GuestChannel::receive(const std::function<void(pid_t, std::string_view)>& on_frame) {
  while (true) {
    std::array<char, 4096> piece;
    iovec place{piece.data(), piece.size()};
    Control control{};
    msghdr message{};
    message.msg_iov = &place;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    const ssize_t got = recvmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return true;
    if (got <= 0) return false;
    const pid_t sender = sender_of(message);
    if (partial_ && sender != sender_) return false;
    sender_ = sender;
    reader_.feed({piece.data(), static_cast<std::size_t>(got)});
    while (const auto payload = reader_.next()) on_frame(sender, *payload);
    if (reader_.broken()) return false;
    partial_ = reader_.holds_some();
  }
}

}  // namespace agon::sandbox::launcher
