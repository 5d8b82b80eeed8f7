// sandbox/launcher/supervisor/host_replies.h - sends the host its replies: answers, and the files that calls return.
// Bytes that the socket does not accept yet wait here; nothing blocks.
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
  // id: of the request; below 0: there is no request to answer.
  void answer(std::int64_t id, Json reply);
  void answer_result(std::int64_t id, const Result& result, std::vector<OpenFile> files);
  // reason: the result of code that was to run in the session.
  void refuse(std::int64_t id, const std::string& text, Reason reason = Reason::sandbox_lost) {
    answer(id, {{"error", text}, {"reason", to_string(reason)}});
  }
  void flush();
  void send_files();
  bool has_waiting() const { return !waiting_.empty() || !waiting_files_.empty(); }  // bytes wait for the socket
  bool has_files() const { return !outgoing_.empty(); }                              // some files are not read yet
  bool is_broken() const { return broken_; }                                         // the host accepts no more

 private:
  // Files that a call returns, and its answer, which follows them.
  struct Outgoing {
    std::int64_t id = 0;
    Json answer;
    std::vector<OpenFile> files;
    std::size_t at = 0;  // the file that is being read
  };

  const Descriptor& control_;
  Outbox waiting_, waiting_files_;  // bytes for the host; pieces of files go between answers
  std::deque<Outgoing> outgoing_;
  bool in_piece_ = false;  // a piece of a file is partly sent
  bool broken_ = false;
};

}  // namespace agon::sandbox::launcher
