#include "agents/learn/data/picture_change.h"

#include <algorithm>
#include <cmath>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "core/error.h"
#include "core/rng.h"
#include "core/text.h"

namespace agon::agents {
namespace {

constexpr double kBlurSigma = 5;  // pixels

cv::Mat matrix_of(const Image& picture) {
  return cv::Mat(picture.height(), picture.width(), CV_8UC3, const_cast<std::uint8_t*>(picture.rgb().data()));
}

Image image_of(const cv::Mat& matrix) { return Image(matrix.cols, matrix.rows, {matrix.datastart, matrix.dataend}); }

Image blurred(const Image& picture) {
  cv::Mat result;
  cv::GaussianBlur(matrix_of(picture), result, {0, 0}, kBlurSigma);
  return image_of(result);
}

Image turned(const Image& picture) {
  cv::Mat result;
  cv::rotate(matrix_of(picture), result, cv::ROTATE_90_CLOCKWISE);
  return image_of(result);
}

Image noised(const Image& picture, std::uint64_t seed) {
  Rng rng = Rng::derive(seed, "picture noise", "", 0);
  std::vector<std::uint8_t> rgb(picture.rgb().begin(), picture.rgb().end());
  for (std::uint8_t& value : rgb)
    value = static_cast<std::uint8_t>(std::clamp(std::round(value + 255 * rng.normal()), 0.0, 255.0));
  return Image(picture.width(), picture.height(), std::move(rgb));
}

}  // namespace

PictureChange parse_picture_change(const std::string& name) {
  static const std::vector<std::string> kNames{"white", "blur", "noise", "rotate"};
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) throw Error("{}", unknown_name_message("picture change", name, kNames));
  return static_cast<PictureChange>(found - kNames.begin());
}

Image changed_picture(const Image& picture, PictureChange change, std::uint64_t seed) {
  switch (change) {
    case PictureChange::white:
      return Image(picture.width(), picture.height(), std::vector<std::uint8_t>(picture.rgb().size(), 255));
    case PictureChange::blur:
      return blurred(picture);
    case PictureChange::noise:
      return noised(picture, seed);
    case PictureChange::rotate:
      return turned(picture);
  }
  return picture;
}

}  // namespace agon::agents
