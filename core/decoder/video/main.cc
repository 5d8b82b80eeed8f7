// agon-decode-video - decodes frames of one possibly hostile video for one agon process (protocol.h). OpenCV's FFmpeg
// reads the file at descriptor 1, on one thread. The process opens files only for reading, starts no process, reaches
// no network, and keeps to the memory and the CPU time that the request gives.
#include <dlfcn.h>
#include <seccomp.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <opencv2/core.hpp>
#include <opencv2/videoio.hpp>
#include <vector>

#include "core/decoder/confinement.h"
#include "core/decoder/protocol.h"

namespace agon::decoder {
namespace {

constexpr std::uint64_t kOwnMemory = 256ull << 20;  // memory of the libraries
constexpr std::uint64_t kDescriptors = 16;
constexpr std::uint32_t kMostPlaces = 1 << 20;

std::uint32_t whole(double value) {
  return std::isfinite(value) ? static_cast<std::uint32_t>(std::clamp(value, 0.0, 1e9)) : 0;
}

cv::VideoCapture open_video() {
  ::setenv("OPENCV_FFMPEG_CAPTURE_OPTIONS", "protocol_whitelist;file", 1);
  cv::setNumThreads(1);
  return cv::VideoCapture("/dev/fd/1", cv::CAP_FFMPEG, {cv::CAP_PROP_HW_ACCELERATION, cv::VIDEO_ACCELERATION_NONE});
}

std::vector<std::uint32_t> receive_places() {
  std::uint32_t count = 0;
  receive_all(&count, sizeof(count));
  if (count > kMostPlaces) _exit(1);
  std::vector<std::uint32_t> places(count);
  receive_all(places.data(), places.size() * sizeof(std::uint32_t));
  return places;
}

// OpenCV's frames are BGR.
void send_frame(const cv::Mat& frame) {
  const auto width = static_cast<std::uint32_t>(frame.cols), height = static_cast<std::uint32_t>(frame.rows);
  const Reply reply{1, width, height, 0, std::uint64_t{width} * height * 3};
  std::vector<std::uint8_t> rgb;
  rgb.reserve(reply.bytes);
  for (int y = 0; y < frame.rows; ++y) {
    const std::uint8_t* const row = frame.ptr<std::uint8_t>(y);
    for (int x = 0; x < 3 * frame.cols; x += 3) rgb.insert(rgb.end(), {row[x + 2], row[x + 1], row[x]});
  }
  send_all(&reply, sizeof(reply));
  send_all(rgb.data(), rgb.size());
}

void send_frames(cv::VideoCapture& video, const std::vector<std::uint32_t>& places) {
  std::uint32_t next = 0;  // frame of the file
  cv::Mat frame;
  for (const std::uint32_t place : places) {
    bool grabbed = true;
    for (; grabbed && next <= place; ++next) grabbed = video.grab();
    if (!grabbed || !video.retrieve(frame) || frame.type() != CV_8UC3) {
      const Reply ended;
      send_all(&ended, sizeof(ended));
      return;
    }
    send_frame(frame);
  }
}

}  // namespace
}  // namespace agon::decoder

// OpenCV 4.6 has no setting for the threads of a decoder: it takes one per processor, so one processor is reported
// here.
extern "C" [[gnu::visibility("default")]] long sysconf(int name) noexcept {
  if (name == _SC_NPROCESSORS_ONLN) return 1;
  static const auto of_libc = reinterpret_cast<long (*)(int)>(::dlsym(RTLD_NEXT, "sysconf"));
  return of_libc(name);
}

int main() try {
  using namespace agon::decoder;
  VideoRequest request;
  receive_all(&request, sizeof(request));
  shut_in(mapped_bytes() + request.memory + kOwnMemory, kDescriptors,
          {SCMP_SYS(openat), SCMP_SYS(close), SCMP_SYS(lseek), SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(fcntl),
           SCMP_SYS(gettid), SCMP_SYS(getpid), SCMP_SYS(clock_getres), SCMP_SYS(gettimeofday)});
  limit_cpu(request.milliseconds);
  cv::VideoCapture video = open_video();
  VideoReply reply;
  if (video.isOpened())
    reply = {1, whole(video.get(cv::CAP_PROP_FRAME_WIDTH)), whole(video.get(cv::CAP_PROP_FRAME_HEIGHT)),
             whole(video.get(cv::CAP_PROP_FRAME_COUNT)), video.get(cv::CAP_PROP_FPS)};
  send_all(&reply, sizeof(reply));
  if (reply.opened) send_frames(video, receive_places());
  _exit(0);  // skips destructors, which a damaged video may break
} catch (...) {
  _exit(1);
}
