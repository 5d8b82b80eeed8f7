// sandbox/launcher/sockets.h - pipes, pairs of sockets, and messages that carry descriptors and identify their sender.
// All descriptors are closed on exec. Functions that make them throw std::system_error.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "core/descriptor.h"

namespace agon::sandbox::launcher {

struct Pipe {
  Descriptor reading, writing;
};
Pipe make_pipe();

struct SocketPair {
  Descriptor ours, theirs;
};
// type: SOCK_STREAM or SOCK_SEQPACKET. The kernel reports the sender of everything that arrives at `ours`.
SocketPair make_socket_pair(int type);

// Calls sendmsg() with descriptors, which stay the caller's, and returns its result. Never raises SIGPIPE; does not
// throw.
ssize_t send_message(int socket, std::string_view bytes, std::initializer_list<int> descriptors, int flags = 0);

struct Received {
  ssize_t size = 0;  // as from recvmsg(): 0 at the end, negative with errno
  pid_t sender = 0;  // as this process sees it; 0: unknown
  std::vector<Descriptor> descriptors;
};
Received receive_message(int socket, void* place, std::size_t size, int flags = 0);

}  // namespace agon::sandbox::launcher
