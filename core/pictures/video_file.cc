#include "core/pictures/video_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/decoder/protocol.h"
#include "core/error.h"
#include "core/pictures/decoder_process.h"

namespace agon {
namespace {

using decoder::Reply;
using decoder::VideoReply;
using decoder::VideoRequest;

// Whether a file begins as one of the containers that are read. FFmpeg knows many more, such as playlists that name
// other files.
bool begins_as_video(std::string_view start) {
  return start.substr(4, 4) == "ftyp" || start.starts_with("\x1A\x45\xDF\xA3") ||
         (start.starts_with("RIFF") && start.substr(8, 4) == "AVI ");
}

Descriptor open_file(const std::filesystem::path& path, const VideoLimits& limits) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat facts;
  if (!file || ::fstat(file.get(), &facts) != 0)
    throw Error("{}: the video cannot be read: {}.", path.string(), std::strerror(errno));
  if (!S_ISREG(facts.st_mode)) throw Error("{}: not a file.", path.string());
  if (facts.st_size > limits.max_file_bytes)
    throw Error("{}: {} bytes, and a video may have {}. Cut it.", path.string(), facts.st_size, limits.max_file_bytes);
  std::string start(12, '\0');
  const ssize_t read = ::pread(file.get(), start.data(), start.size(), 0);
  if (read != std::ssize(start) || !begins_as_video(start))
    throw Error("{}: not an MP4, QuickTime, WebM, Matroska or AVI file.", path.string());
  return file;
}

std::string why_ended(DecoderProcess& process, const VideoLimits& limits) {
  const bool overdue = process.overdue();
  const std::optional<int> status = process.end();
  if (overdue) return "its decoder did not answer in time and was ended. Is the machine overloaded?";
  if (status && WIFSIGNALED(*status) && WTERMSIG(*status) == SIGPROF)
    return fmt::format("decoding it takes more than {:g} s of CPU time. Cut it.", limits.cpu_seconds);
  if (status && WIFEXITED(*status) && WEXITSTATUS(*status) == decoder::kNotShutIn)
    return "its decoder could not lock itself down. Does this machine or container forbid seccomp or rlimits?";
  return "it is damaged: its decoder ended.";
}

// One video in its decoder.
class VideoReader {
 public:
  VideoReader(const std::filesystem::path& path, const VideoLimits& limits)
      : name_(path.string()),
        limits_(limits),
        file_(open_file(path, limits)),
        process_("agon-decode-video", "videos", file_.get()) {
    const double patience = 60 + 10 * limits.cpu_seconds;
    process_.set_deadline(DecoderProcess::Clock::now() + std::chrono::duration_cast<DecoderProcess::Clock::duration>(
                                                             std::chrono::duration<double>(patience)));
  }

  std::shared_ptr<const Video> read(const FrameSampling& sampling) try {
    const VideoReply facts = ask();
    Video video;
    video.is_chosen = true;
    video.source_frames = static_cast<int>(facts.frames);
    video.fps = facts.fps > 0 && std::isfinite(facts.fps) ? facts.fps : 24;
    video.places = sampled_frames(sampling, video.source_frames, video.fps);
    check_size(facts, video.places.size());
    receive_frames(facts, video);
    return make_video(std::move(video));
  } catch (const DecoderProcess::Ended&) {
    throw Error("{}: the video cannot be decoded: {}", name_, why_ended(process_, limits_));
  }

 private:
  VideoReply ask() {
    const VideoRequest request{static_cast<std::uint64_t>(limits_.max_decode_bytes),
                               static_cast<std::uint32_t>(std::clamp(limits_.cpu_seconds, 0.001, 1e6) * 1000)};
    process_.send(&request, sizeof(request));
    VideoReply facts;
    process_.receive(&facts, sizeof(facts));
    if (!facts.opened || facts.frames == 0 || facts.width == 0 || facts.height == 0)
      throw Error("{}: the video is damaged, or of a kind that FFmpeg does not decode here.", name_);
    return facts;
  }
  void check_size(const VideoReply& facts, std::size_t frames) const {
    const auto side = static_cast<std::uint32_t>(limits_.max_side);
    if (facts.width > side || facts.height > side)
      throw Error("{}: frames of {} x {}, and a side may have {} pixels.", name_, facts.width, facts.height, side);
    if (frames > static_cast<std::size_t>(limits_.max_frames))
      throw Error("{}: {} frames are to be shown, and {} may be. Show fewer a second.", name_, frames,
                  limits_.max_frames);
    const std::int64_t bytes = std::int64_t{3} * facts.width * facts.height * static_cast<std::int64_t>(frames);
    if (bytes > limits_.max_bytes)
      throw Error("{}: {} frames of {} x {} take {} bytes, and may take {}. Show fewer a second.", name_, frames,
                  facts.width, facts.height, bytes, limits_.max_bytes);
  }
  // Receives the frames that the file has; it may end early. The same place may be asked for more than once.
  void receive_frames(const VideoReply& facts, Video& video) {
    std::vector<std::uint32_t> places(video.places.begin(), video.places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    const auto count = static_cast<std::uint32_t>(places.size());
    process_.send(&count, sizeof(count));
    process_.send(places.data(), places.size() * sizeof(std::uint32_t));
    std::size_t filled = 0;
    for (const std::uint32_t place : places) {
      const Image frame = receive_frame(facts);
      if (frame.empty()) break;
      for (; filled < video.places.size() && static_cast<std::uint32_t>(video.places[filled]) == place; ++filled)
        video.frames.push_back(frame);
    }
    video.places.resize(filled);
    if (video.frames.empty()) throw Error("{}: the video is damaged: it has no frame that can be decoded.", name_);
  }
  Image receive_frame(const VideoReply& facts) {
    Reply reply;
    process_.receive(&reply, sizeof(reply));
    if (!reply.decoded) return {};
    if (reply.width != facts.width || reply.height != facts.height ||
        reply.bytes != std::uint64_t{3} * facts.width * facts.height)
      throw Error("{}: its frames change their size from {} x {} to {} x {}.", name_, facts.width, facts.height,
                  reply.width, reply.height);
    std::vector<std::uint8_t> rgb(reply.bytes);
    process_.receive(rgb.data(), rgb.size());
    return Image(static_cast<int>(facts.width), static_cast<int>(facts.height), std::move(rgb));
  }

  const std::string name_;
  const VideoLimits limits_;
  const Descriptor file_;
  DecoderProcess process_;
};

}  // namespace

std::shared_ptr<const Video> load_video(const std::filesystem::path& path, const FrameSampling& sampling,
                                        const VideoLimits& limits) {
  return VideoReader(path, limits).read(sampling);
}

void check_video(const std::filesystem::path& path, const VideoLimits& limits) { open_file(path, limits); }

}  // namespace agon
