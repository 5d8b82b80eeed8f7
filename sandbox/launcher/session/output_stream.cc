#include "sandbox/launcher/session/output_stream.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <utility>

#include "sandbox/launcher/sockets.h"

namespace agon::sandbox::launcher {

Descriptor make_stream(Descriptor& reading) {
  Pipe pipe = make_pipe();
  reading = std::move(pipe.reading);
  checked(fcntl(reading.get(), F_SETFL, O_NONBLOCK), "fcntl");
  return std::move(pipe.writing);
}

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

}  // namespace agon::sandbox::launcher
