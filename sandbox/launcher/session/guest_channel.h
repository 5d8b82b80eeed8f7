// sandbox/launcher/session/guest_channel.h - the supervisor's end of a channel to a guest (guest_protocol.h). It never
// blocks and never trusts the guest.
#pragma once

#include <sys/types.h>

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/descriptor.h"
#include "sandbox/frame.h"
#include "sandbox/launcher/session/outbox.h"

namespace agon::sandbox::launcher {

class GuestChannel {
 public:
  GuestChannel() = default;
  // A new pair: this end, and the guest's.
  static std::pair<GuestChannel, Descriptor> make();

  int get() const { return socket_.get(); }
  // Queues a frame and sends what the socket accepts; `descriptors` travel with its first byte and stay the caller's.
  // The rest goes out at the next flush (the socket polls as writable).
  void send(std::string_view payload, std::initializer_list<int> descriptors = {});
  void flush();
  bool waits_to_write() const { return !waiting_.empty(); }

  // Reads some of what has arrived, in a few reads (the socket polls as readable while there is more). Calls
  // on_frame(process that sent it, payload) until that returns false. Returns false if the channel is closed or the
  // bytes are not a frame.
  bool receive(const std::function<bool(pid_t, std::string_view)>& on_frame);
  void close() { socket_.reset(); }

 private:
  Descriptor socket_;
  FrameReader reader_{0};
  pid_t sender_ = 0;  // of an incomplete frame
  bool partial_ = false;
  Outbox waiting_;
};

}  // namespace agon::sandbox::launcher
