#include "sandbox/launcher/supervisor/host_replies.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "sandbox/message.h"

namespace agon::sandbox::launcher {
namespace {

constexpr std::size_t kPiece = 256 << 10;  // bytes of a returned file

}  // namespace

Json::binary_t binary(std::string_view bytes) {
  return Json::binary_t(std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
}

void HostReplies::answer(std::int64_t id, Json reply) {
  if (id < 0) return;
  reply["id"] = id;
  waiting_.add(message_frame(reply));
  flush();
}

void HostReplies::answer_result(std::int64_t id, const Result& result, std::vector<OpenFile> files) {
  if (files.empty()) return answer(id, to_json(result));
  outgoing_.push_back({id, to_json(result), std::move(files)});
  send_files();
}

// Sends one piece at a time, in turns, so that the files of one call delay no other answer.
void HostReplies::send_files() {
  if (outgoing_.empty() || !waiting_.empty() || !waiting_files_.empty()) return;
  Outgoing one = std::move(outgoing_.front());
  outgoing_.pop_front();
  OpenFile& file = one.files[one.at];
  std::string piece = read_some(file, kPiece);
  const bool ends = file.size == 0 || piece.empty();
  waiting_files_.add(
      message_frame({{"id", one.id}, {"artifact", one.at}, {"name", file.name}, {"bytes", binary(piece)}}));
  if (ends) ++one.at;
  if (one.at < one.files.size()) {
    outgoing_.push_back(std::move(one));
  } else {
    one.answer["id"] = one.id;
    waiting_files_.add(message_frame(one.answer));
  }
  flush();
}

// Sends answers before files, but never in the middle of a frame.
void HostReplies::flush() {
  while (!waiting_.empty() || !waiting_files_.empty()) {
    Outbox& next = in_piece_ || waiting_.empty() ? waiting_files_ : waiting_;
    const std::string_view bytes = next.next(1 << 20);
    const ssize_t sent = ::send(control_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent <= 0) {
      if (errno != EAGAIN && errno != EINTR) broken_ = true;
      return;
    }
    next.sent(static_cast<std::size_t>(sent));
    in_piece_ = !waiting_files_.empty() && (in_piece_ || &next == &waiting_files_);
  }
}

}  // namespace agon::sandbox::launcher
