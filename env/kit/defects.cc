#include "env/kit/defects.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "core/text.h"

namespace agon::env {
namespace {

constexpr std::array<std::string_view, kDefects> kDefectNames{"crop", "dark",       "overexposure", "noise",
                                                              "blur", "rotation90", "rotation180"};
constexpr double kDarkness = 0.07;      // factor on each value
constexpr double kPaleness = 0.12;      // factor on each value, for the contrast,
constexpr double kLightest = 228;       // and the value that black becomes
constexpr double kBlur = 4;             // standard deviation, pixels
constexpr double kNoise = 0.3;          // share of values that become 0; an equal share becomes 255
constexpr int kRoom = 28, kStride = 7;  // pixels: room around the picture in a page's cell, and its step there
constexpr std::uint8_t kPage = 225;     // gray of a page

cv::Mat mat_of(const Image& picture) {
  const cv::Mat view(picture.height(), picture.width(), CV_8UC3, const_cast<std::uint8_t*>(picture.rgb().data()));
  return view.clone();
}

Image image_of(const cv::Mat& mat) {
  const cv::Mat whole = mat.isContinuous() ? mat : mat.clone();
  return Image(whole.cols, whole.rows, std::vector<std::uint8_t>(whole.data, whole.data + whole.total() * 3));
}

void add_noise(cv::Mat& picture, Rng& rng) {
  for (std::uint8_t* value = picture.data; value != picture.data + picture.total() * 3; ++value) {
    const double draw = rng.uniform();
    if (draw < kNoise) *value = 0;
    if (draw > 1 - kNoise) *value = 255;
  }
}

// A page of two by two pictures in random cells, each at a random position in its cell. The region is that of the first
// picture.
Degraded page_of(std::vector<Image> pictures, Rng& rng) {
  const int side = pictures.front().width(), cell = side + kRoom;
  cv::Mat page(2 * cell, 2 * cell, CV_8UC3, cv::Scalar(kPage, kPage, kPage));
  std::vector<int> cells{0, 1, 2, 3};
  rng.shuffle(cells);
  Degraded result;
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const int x = cells[i] % 2 * cell + kStride * rng.between(0, kRoom / kStride);
    const int y = cells[i] / 2 * cell + kStride * rng.between(0, kRoom / kStride);
    mat_of(pictures[i]).copyTo(page(cv::Rect(x, y, side, side)));
    const double scale = 1000.0 / (2 * cell);
    if (i == 0) result.region = {x * scale, y * scale, (x + side) * scale, (y + side) * scale};
  }
  result.picture = image_of(page);
  return result;
}

}  // namespace

std::string_view to_string(Defect defect) { return kDefectNames[static_cast<std::size_t>(defect)]; }

std::string format_defects(const Defects& defects) {
  std::string names;
  for (const Defect defect : defects) names += fmt::format("{}'{}'", names.empty() ? "" : ", ", to_string(defect));
  return fmt::format("{{{}}}", names.empty() ? "'none'" : names);
}

std::string kind_of(const Defects& defects) {
  std::string kind;
  for (const Defect defect : defects) kind += fmt::format("{}{}", kind.empty() ? "" : "+", to_string(defect));
  return kind.empty() ? "none" : kind;
}

std::optional<Defects> parse_defects(std::string_view text) {
  const auto bare = [](std::string_view name) {
    const std::size_t begin = name.find_first_not_of(" \t\r\n'\"{}"), end = name.find_last_not_of(" \t\r\n'\"{}");
    return begin == name.npos ? std::string_view() : name.substr(begin, end - begin + 1);
  };
  if (bare(text) == "none") return Defects();
  Defects defects;
  for (const std::string& item : split(text, ",")) {
    const auto found = std::find(kDefectNames.begin(), kDefectNames.end(), bare(item));
    if (found == kDefectNames.end()) return std::nullopt;
    defects.insert(static_cast<Defect>(found - kDefectNames.begin()));
  }
  return defects;
}

Degraded degrade(const Image& picture, const std::vector<Image>& others, const Defects& defects, Rng& rng) {
  const int quarters = defects.count(Defect::rotation90) ? 1 : defects.count(Defect::rotation180) ? 2 : 0;
  std::vector<Image> pictures{turned(picture, quarters)};
  for (const Image& other : others) pictures.push_back(turned(other, quarters));
  Degraded result{pictures.front()};
  if (defects.count(Defect::crop)) result = page_of(std::move(pictures), rng);
  cv::Mat shown = mat_of(result.picture);
  if (defects.count(Defect::blur)) cv::GaussianBlur(shown, shown, {}, kBlur);
  if (defects.count(Defect::noise)) add_noise(shown, rng);
  if (defects.count(Defect::dark)) shown.convertTo(shown, -1, kDarkness);
  if (defects.count(Defect::overexposure)) shown.convertTo(shown, -1, kPaleness, kLightest);
  result.picture = image_of(shown);
  return result;
}

std::string mending_code(Defect defect, const Box& region) {
  switch (defect) {
    case Defect::crop:
      return fmt::format("h, w = p.shape[:2]\np = p[{} * h // 1000:{} * h // 1000, {} * w // 1000:{} * w // 1000]",
                         region.y1, region.y2, region.x1, region.x2);
    case Defect::dark:
    case Defect::overexposure:
      return "p = cv2.normalize(p, None, 0, 255, cv2.NORM_MINMAX)";
    case Defect::noise:
      return "p = cv2.medianBlur(p, 5)";
    case Defect::blur:
      return "p = cv2.addWeighted(p, 3, cv2.GaussianBlur(p, (0, 0), 4), -2, 0)";
    case Defect::rotation90:
      return "p = cv2.rotate(p, cv2.ROTATE_90_COUNTERCLOCKWISE)";
    case Defect::rotation180:
      break;
  }
  return "p = cv2.rotate(p, cv2.ROTATE_180)";
}

Image turned(const Image& picture, int quarters) {
  if (quarters % 4 == 0) return picture;
  static constexpr cv::RotateFlags kTurns[] = {cv::ROTATE_90_CLOCKWISE, cv::ROTATE_180, cv::ROTATE_90_COUNTERCLOCKWISE};
  cv::Mat result;
  cv::rotate(mat_of(picture), result, kTurns[quarters % 4 - 1]);
  return image_of(result);
}

Image cut_out(const Image& picture, const Box& region) {
  const auto place = [](double thousandths, int side) {
    return static_cast<int>(std::lround(thousandths * side / 1000));
  };
  const int x = place(region.x1, picture.width()), y = place(region.y1, picture.height());
  const cv::Rect part(x, y, place(region.x2, picture.width()) - x, place(region.y2, picture.height()) - y);
  return image_of(mat_of(picture)(part));
}

double mean_difference(const Image& a, const Image& b) {
  cv::Mat difference;
  cv::absdiff(mat_of(a), mat_of(b), difference);
  const cv::Scalar mean = cv::mean(difference);
  return (mean[0] + mean[1] + mean[2]) / 3;
}

double correlation(const Image& a, const Image& b) {
  const auto centred = [](const Image& picture) {
    cv::Mat values;
    mat_of(picture).reshape(1).convertTo(values, CV_32F);
    return cv::Mat(values - cv::mean(values)[0]);
  };
  const cv::Mat left = centred(a), right = centred(b);
  const double size = cv::norm(left) * cv::norm(right);
  return size > 0 ? left.dot(right) / size : 0;
}

}  // namespace agon::env
