#include "sandbox/launcher/sockets.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <cstring>

namespace agon::sandbox::launcher {
namespace {

union Control {
  cmsghdr header;
  char bytes[256];
};

void take(const cmsghdr& header, Received& received) {
  if (header.cmsg_type == SCM_CREDENTIALS) {
    ucred sender{};
    std::memcpy(&sender, CMSG_DATA(&header), sizeof sender);
    received.sender = sender.pid;
  } else if (header.cmsg_type == SCM_RIGHTS) {
    for (std::size_t at = 0; at + sizeof(int) <= header.cmsg_len - CMSG_LEN(0); at += sizeof(int)) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(&header) + at, sizeof descriptor);
      received.descriptors.emplace_back(descriptor);
    }
  }
}

}  // namespace

Pipe make_pipe() {
  int ends[2];
  checked(pipe2(ends, O_CLOEXEC), "pipe");
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

SocketPair make_socket_pair(int type) {
  int ends[2];
  checked(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends), "socketpair");
  SocketPair pair{Descriptor(ends[0]), Descriptor(ends[1])};
  const int on = 1;
  checked(setsockopt(ends[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on), "SO_PASSCRED");
  return pair;
}

ssize_t send_message(int socket, std::string_view bytes, std::initializer_list<int> descriptors, int flags) {
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
  return sendmsg(socket, &message, MSG_NOSIGNAL | flags);
}

Received receive_message(int socket, void* place, std::size_t size, int flags) {
  iovec piece{place, size};
  Control control{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  Received received;
  do received.size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | flags);
  while (received.size < 0 && errno == EINTR);
  if (received.size < 0) return received;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header))
    if (header->cmsg_level == SOL_SOCKET) take(*header, received);
  return received;
}

}  // namespace agon::sandbox::launcher
