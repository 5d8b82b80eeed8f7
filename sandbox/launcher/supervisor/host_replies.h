// sandbox/launcher/supervisor/host_replies.h - what the host gets back on its requests: answers, and the files that
// calls bring out. What its socket does not take yet waits here; nothing blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "core/descriptor.h"
#include "core/json.h"
#include "sandbox/launcher/session/outbox.h"
#include "sandbox/launcher/session/session_files.h"
#include "sandbox/result.h"

namespace agon::sandbox::launcher {

Json::binary_t binary(std::string_view bytes);

class HostReplies {
 public:
  explicit HostReplies(const Descriptor& control) : control_(control) {}  // outlives this
  // id: of the request; below 0: nobody has asked.
  void answer(std::int64_t id, Json reply);
  void answer_result(std::int64_t id, const Result& result, std::vector<OpenFile> files);
  // reason: what code that was to run there ends with.
  void refuse(std::int64_t id, const std::string& text, Reason reason = Reason::sandbox_lost) {
    answer(id, {{"error", text}, {"reason", to_string(reason)}});
  }
  void flush();
  void send_files();
  bool has_waiting() const { return !waiting_.empty() || !waiting_files_.empty(); }  // for the socket
  bool has_files() const { return !outgoing_.empty(); }                              // that are not read yet
  bool is_broken() const { return broken_; }                                         // the host takes no more

 private:
  // Files that a call brings out, and its answer, which comes behind them.
  struct Outgoing {
    std::int64_t id = 0;
    Json answer;
    std::vector<OpenFile> files;
    std::size_t at = 0;  // the file that is read
  };

  const Descriptor& control_;
  Outbox waiting_, waiting_files_;  // to be sent to the host; the latter in between, in pieces
  std::deque<Outgoing> outgoing_;
  bool in_piece_ = false;  // a piece of a file is sent in part
  bool broken_ = false;
};

}  // namespace agon::sandbox::launcher
