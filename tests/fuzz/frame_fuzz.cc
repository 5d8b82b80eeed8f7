// libFuzzer harness of the messages between the two sides of the sandbox: frames in pieces of any size, the
// supervisor's end of a guest's channel, and messages of host and launcher (CBOR to limits and results). They may only
// throw Error, never crash or hang, and it must not matter how the bytes are cut.
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/json.h"
#include "sandbox/frame.h"
#include "sandbox/launcher/session/guest_channel.h"
#include "sandbox/launcher/session/guest_protocol.h"
#include "sandbox/limits.h"
#include "sandbox/message.h"
#include "sandbox/result.h"
#include "tests/fuzz/checks.h"

using namespace agon;
using namespace agon::sandbox;

namespace {

constexpr std::size_t kMost = 1024;

struct Frames {
  std::vector<std::string> payloads;
  bool broken = false;
  bool operator==(const Frames&) const = default;
};

// Cut into pieces of `step` bytes; 0: as one.
Frames read_frames(std::string_view bytes, std::size_t step) {
  FrameReader reader(kMost);
  Frames frames;
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, step ? step : bytes.size());
    bytes.remove_prefix(piece.size());
    reader.feed(piece);
    while (auto payload = reader.next()) {
      require(payload->size() <= kMost);
      frames.payloads.push_back(std::move(*payload));
    }
  }
  frames.broken = reader.broken();
  return frames;
}

void check_frames(std::string_view bytes) {
  const Frames whole = read_frames(bytes, 0);
  require(read_frames(bytes, 1) == whole);
  require(read_frames(bytes, 7) == whole);
  std::string again;
  for (const std::string& payload : whole.payloads) again += make_frame(payload);
  require(bytes.starts_with(again));
  require(read_frames(again, 3).payloads == whole.payloads);
}

void check_channel(std::string_view bytes) {
  auto [channel, guest] = launcher::GuestChannel::make();
  require(write(guest.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  std::size_t seen = 0;
  const bool open = channel.receive([&](pid_t sender, std::string_view payload) {
    require(sender == getpid() && payload.size() <= launcher::kMostGuestFrame);
    seen += payload.size();
    return true;
  });
  require(seen <= bytes.size());
  guest.reset();
  if (open) require(!channel.receive([](pid_t, std::string_view) { return true; }));
}

template <typename Read>
void check_reader(Read read) {
  try {
    read();
  } catch (const Error&) {
  }
}

void check_message(std::string_view bytes) {
  const auto read = read_message(bytes);
  if (!read) return;
  const Json& message = *read;
  check_reader([&] {
    const Limits limits = limits_from_json(message);
    require(limits_from_json(to_json(limits)) == limits);
  });
  check_reader([&] {
    const Result result = result_from_json(message);
    Json again = to_json(result);
    again["artifacts"] = message.at("artifacts");
    require(to_json(result_from_json(again)) == to_json(result));
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_frames(bytes);
  check_channel(bytes);
  check_message(bytes);
  return 0;
}
