// core/decoder/protocol.h - what agon and its decoders say to each other over a socket. Of a picture: a request and the
// file's bytes, a reply and the pixels or the error's text. Of a video, whose file is the decoder's descriptor 1: a
// request, what the file holds, the number and the places of the frames that are wanted, ascending, then for each a
// reply and its pixels. A reply without pixels says that the video has ended.
#pragma once

#include <cstdint>

namespace agon::decoder {

struct Request {
  std::uint32_t format = 0;                         // ImageFormat
  std::uint32_t width = 0, height = 0;              // of the picture that is asked for
  std::uint32_t left = 0, top = 0;                  // where the coded one lies in it; around it is white
  std::uint32_t coded_width = 0, coded_height = 0;  // what the file's header says of that
  std::uint32_t orientation = 1;                    // EXIF
  std::uint32_t wants_pixels = 1;                   // 0: the picture is decoded and thrown away
  std::uint32_t milliseconds = 0;                   // of CPU
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
  std::uint32_t opened = 0;  // 0: it is no video, and the decoder ends
  std::uint32_t width = 0, height = 0;
  std::uint32_t frames = 0;  // as the file says
  double fps = 0;
};

constexpr std::uint64_t kMostErrorBytes = 200;
constexpr int kNotShutIn = 2;  // exit code: limits or seccomp are refused here

}  // namespace agon::decoder
