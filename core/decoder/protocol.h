// core/decoder/protocol.h - the messages between agon and its decoders, over a socket. A picture: agon sends a Request
// and the file's bytes; the decoder sends a Reply and the pixels or the error's text. A video, whose file is the
// decoder's descriptor 1: agon sends a VideoRequest; the decoder sends a VideoReply; agon sends the number and the
// places of the wanted frames, ascending; the decoder sends a Reply and the pixels of each. A Reply without pixels says
// that the video has ended.
#pragma once

#include <cstdint>

namespace agon::decoder {

struct Request {
  std::uint32_t format = 0;                         // ImageFormat
  std::uint32_t width = 0, height = 0;              // of the picture that is asked for
  std::uint32_t left = 0, top = 0;                  // place of the coded picture in it; the rest is white
  std::uint32_t coded_width = 0, coded_height = 0;  // the coded picture's size, from the file's header
  std::uint32_t orientation = 1;                    // EXIF
  std::uint32_t wants_pixels = 1;                   // 0: the picture is decoded and discarded
  std::uint32_t milliseconds = 0;                   // of CPU time
  std::uint64_t encoded_bytes = 0;                  // that follow
  std::uint64_t memory = 0;                         // bytes in addition to those
};

struct Reply {
  std::uint32_t decoded = 0;            // 0: an error's text follows, and the decoder ends
  std::uint32_t width = 0, height = 0;  // turned by the orientation
  std::uint32_t reserved = 0;
  std::uint64_t bytes = 0;  // that follow
};

struct VideoRequest {
  std::uint64_t memory = 0;  // bytes in addition to the decoder's own
  std::uint32_t milliseconds = 0;
  std::uint32_t reserved = 0;
};

struct VideoReply {
  std::uint32_t opened = 0;  // 0: not a video; the decoder ends
  std::uint32_t width = 0, height = 0;
  std::uint32_t frames = 0;  // as the file says
  double fps = 0;
};

constexpr std::uint64_t kMostErrorBytes = 200;
constexpr int kNotShutIn = 2;  // exit code: this system refuses limits or seccomp

}  // namespace agon::decoder
