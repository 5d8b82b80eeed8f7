// agon-decode - decodes possibly hostile pictures for one agon process: requests come over the socket at descriptor 0.
// It opens no file, starts no process, and decodes each picture within the memory and the CPU time that the request
// gives. It ends with the socket, with a picture that it cannot decode, or by a signal: agon then starts another.
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "core/decoder/codecs.h"
#include "core/decoder/confinement.h"
#include "core/decoder/exif_turn.h"
#include "core/decoder/protocol.h"

namespace agon::decoder {
namespace {

constexpr std::uint64_t kOwnMemory = 64ull << 20;  // memory of the decoder itself and of its libraries
constexpr std::uint64_t kMostMemory = 4ull << 30;  // whatever a request allows

Picture decode_coded(const Request& request, std::span<const std::uint8_t> encoded) {
  switch (request.format) {
    case 0:
      return decode_png(encoded, request.coded_width, request.coded_height);
    case 1:
      return decode_jpeg(encoded, request.coded_width, request.coded_height);
    default:
      return decode_webp(encoded, request.coded_width, request.coded_height);
  }
}

// Decodes a picture. One that covers only a part of the requested size is laid on white.
Picture decode(const Request& request, std::span<const std::uint8_t> encoded) {
  Picture coded = decode_coded(request, encoded);
  if (coded.width == request.width && coded.height == request.height) return coded;
  const std::size_t bytes = std::size_t(request.width) * request.height * 3;
  Picture whole{request.width, request.height, std::unique_ptr<std::uint8_t[]>(new std::uint8_t[bytes])};
  std::memset(whole.rgb.get(), 255, bytes);
  for (std::size_t row = 0; row < coded.height; ++row)
    std::memcpy(&whole.rgb[((row + request.top) * whole.width + request.left) * 3], &coded.rgb[row * coded.width * 3],
                std::size_t(coded.width) * 3);
  return whole;
}

void send_reply(std::uint32_t width, std::uint32_t height, std::uint64_t bytes) {
  const Reply reply{1, width, height, 0, bytes};
  send_all(&reply, sizeof(reply));
}

// The picture turned as EXIF says, some rows at a time.
void send_turned(const Picture& picture, std::uint32_t orientation) {
  constexpr std::size_t kRows = 32;
  const std::size_t width = swaps_sides(orientation) ? picture.height : picture.width;
  const std::size_t height = swaps_sides(orientation) ? picture.width : picture.height;
  std::vector<std::uint8_t> rows(std::min(kRows, height) * width * 3);
  for (std::size_t top = 0; top < height; top += kRows) {
    rows.resize(std::min(kRows, height - top) * width * 3);
    copy_turned_rows(picture, orientation, top, rows);
    send_all(rows.data(), rows.size());
  }
}

void answer(const Request& request, std::uint64_t mapped) {
  limit_memory(mapped, request.memory + request.encoded_bytes + kOwnMemory);
  limit_cpu(request.milliseconds);
  const std::unique_ptr<std::uint8_t[]> encoded(new std::uint8_t[request.encoded_bytes]);
  receive_all(encoded.get(), request.encoded_bytes);
  const Picture picture = decode(request, {encoded.get(), request.encoded_bytes});
  limit_cpu(0);
  const bool swaps = swaps_sides(request.orientation);
  const std::uint64_t bytes = request.wants_pixels ? std::uint64_t(picture.width) * picture.height * 3 : 0;
  send_reply(swaps ? picture.height : picture.width, swaps ? picture.width : picture.height, bytes);
  if (bytes == 0) return;
  if (request.orientation <= 1)
    send_all(picture.rgb.get(), bytes);
  else
    send_turned(picture, request.orientation);
}

}  // namespace

void give_up(const char* why) {
  Reply reply;
  reply.bytes = std::min<std::uint64_t>(std::strlen(why), kMostErrorBytes);
  send_all(&reply, sizeof(reply));
  send_all(why, reply.bytes);
  _exit(1);
}

}  // namespace agon::decoder

int main() {
  using namespace agon::decoder;
  const std::uint64_t mapped = mapped_bytes();
  shut_in(mapped + kMostMemory, 1);
  for (;;) {
    Request request;
    receive_all(&request, sizeof(request));
    try {
      answer(request, mapped);
    } catch (const std::bad_alloc&) {
      give_up("it needs more memory than its size allows");
    }
  }
}
