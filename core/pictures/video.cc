#include "core/pictures/video.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "core/error.h"

namespace agon {
namespace {

void check_places(const Video& video) {
  if (video.places.size() != video.frames.size())
    throw Error("video: {} places for {} frames.", video.places.size(), video.frames.size());
  const auto descends = std::adjacent_find(video.places.begin(), video.places.end(), std::greater<>());
  if (descends != video.places.end() || video.places.front() < 0 || video.places.back() >= video.source_frames)
    throw Error("video: the places of its frames do not ascend from 0 to below {}, the frames of its source.",
                video.source_frames);
}

}  // namespace

Hash128 Video::hash() const {
  std::string bytes = fmt::format("video {} {} ", source_frames, fps);
  if (is_chosen && has_all()) bytes += "chosen ";
  for (std::size_t i = 0; i < frames.size(); ++i) bytes += fmt::format("{} {} ", places[i], frames[i].hash().hex());
  return hash_bytes({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

std::shared_ptr<const Video> make_video(Video video) {
  if (video.frames.empty() || video.frames.front().empty()) throw Error("video: it has no frames.");
  const Image& first = video.frames.front();
  for (const Image& frame : video.frames)
    if (frame.width() != first.width() || frame.height() != first.height())
      throw Error("video: frames of {} x {} and of {} x {}. Give pictures of one size.", first.width(), first.height(),
                  frame.width(), frame.height());
  if (!(video.fps > 0) || !std::isfinite(video.fps))
    throw Error("video: {} frames a second is not a rate above 0.", video.fps);
  check_places(video);
  return std::make_shared<const Video>(std::move(video));
}

std::shared_ptr<const Video> make_video(std::vector<Image> frames, double fps) {
  Video video{std::move(frames), {}, 0, fps};
  video.source_frames = static_cast<int>(video.frames.size());
  video.places.resize(video.frames.size());
  std::iota(video.places.begin(), video.places.end(), 0);
  return make_video(std::move(video));
}

}  // namespace agon
