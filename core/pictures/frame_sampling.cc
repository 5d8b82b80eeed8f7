#include "core/pictures/frame_sampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"

namespace agon {
namespace {

int multiple_of(int multiple, double count) { return static_cast<int>(std::floor(count / multiple)) * multiple; }

int count_of_shares(const FrameSampling& sampling, int frames, double fps) {
  if (sampling.count)  // rounded half to even, as Python does
    return static_cast<int>(std::nearbyint(static_cast<double>(*sampling.count) / sampling.multiple)) *
           sampling.multiple;
  const int most = multiple_of(sampling.multiple, std::min(sampling.max_frames, frames));
  const double wanted = std::max(frames / fps * sampling.fps, static_cast<double>(sampling.min_frames));
  return multiple_of(sampling.multiple, std::min(wanted, static_cast<double>(most)));
}

std::vector<int> first_of_shares(int frames, int count) {
  std::vector<int> places;
  const double share = static_cast<double>(frames) / count;
  for (int i = 0; i < count; ++i) places.push_back(static_cast<int>(static_cast<float>(share * i)));
  return places;
}

int count_between_ends(const FrameSampling& sampling, int frames, double fps) {
  if (sampling.count) return *sampling.count;
  const auto wanted = static_cast<int>(std::min(frames / fps * sampling.fps, 1e9));
  return std::min({std::max(wanted, sampling.min_frames), sampling.max_frames, frames});
}

std::vector<int> between_ends(int frames, int count) {
  std::vector<int> places;
  const double step = count > 1 ? static_cast<double>(frames - 1) / (count - 1) : 0;
  for (int i = 0; i < count; ++i) places.push_back(static_cast<int>(std::nearbyint(i * step)));
  if (count > 1) places.back() = frames - 1;
  return places;
}

}  // namespace

std::vector<int> sampled_frames(const FrameSampling& sampling, int frames, double fps) {
  if (sampling.spread == FrameSampling::Spread::ends)
    return between_ends(frames, count_between_ends(sampling, frames, fps));
  if (frames < sampling.multiple) {
    std::vector<int> all(static_cast<std::size_t>(frames));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  const int count = std::max(count_of_shares(sampling, frames, fps), sampling.multiple);
  if (count > frames)
    throw Error("video: {} frames are to be shown, and it has {}. Lower the number of frames.", count, frames);
  return first_of_shares(frames, count);
}

}  // namespace agon
