#include "env/kit/draw.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <opencv2/imgproc.hpp>
#include <string>

#include "core/rng.h"

namespace agon::env {
namespace {

constexpr int kShift = 4;  // OpenCV's fixed-point coordinates: 16 subpixels
constexpr int kTile = 256;
constexpr double kCapHeight = 21;  // of FONT_HERSHEY_SIMPLEX at scale 1, in pixels

cv::Mat view(std::vector<std::uint8_t>& rgb, int width, int height) { return {height, width, CV_8UC3, rgb.data()}; }

cv::Scalar scalar(Color color) { return {double(color.red), double(color.green), double(color.blue)}; }

// OpenCV counts from the centre of the first pixel.
cv::Point fixed(Point point) {
  return {static_cast<int>(std::lround((point.x - 0.5) * (1 << kShift))),
          static_cast<int>(std::lround((point.y - 0.5) * (1 << kShift)))};
}

// Smooth noise of -10..10 that repeats. Each value is stored three times (red, green, blue) and each row twice end to
// end, so that any cut of up to kTile pixels is one run of bytes.
std::vector<std::uint8_t> make_tile() {
  static constexpr int kCell = 8;
  Rng rng = Rng::derive(0, "suites/texture");
  std::vector<double> lattice((kTile / kCell) * (kTile / kCell));
  for (double& value : lattice) value = rng.uniform() * 12 - 6;
  const auto at = [&](int x, int y) {
    const int side = kTile / kCell;
    return lattice[static_cast<std::size_t>((y % side) * side + x % side)];
  };
  std::vector<std::uint8_t> tile(static_cast<std::size_t>(kTile) * kTile * 2 * 3);
  for (int y = 0; y < kTile; ++y)
    for (int x = 0; x < kTile; ++x) {
      const double fx = double(x % kCell) / kCell, fy = double(y % kCell) / kCell;
      const double top = at(x / kCell, y / kCell) * (1 - fx) + at(x / kCell + 1, y / kCell) * fx;
      const double bottom = at(x / kCell, y / kCell + 1) * (1 - fx) + at(x / kCell + 1, y / kCell + 1) * fx;
      const double value = top * (1 - fy) + bottom * fy + rng.between(-4, 4);
      const auto byte = static_cast<std::uint8_t>(static_cast<int>(std::lround(value)));
      for (int copy : {0, kTile})
        for (int channel = 0; channel < 3; ++channel)
          tile[static_cast<std::size_t>((y * 2 * kTile + copy + x) * 3 + channel)] = byte;
    }
  return tile;
}

}  // namespace

std::span<const NamedColor> palette() {
  static constexpr std::array<NamedColor, 8> kPalette{{{"red", {220, 40, 40}},
                                                       {"green", {30, 150, 50}},
                                                       {"blue", {40, 70, 220}},
                                                       {"yellow", {245, 215, 30}},
                                                       {"purple", {140, 50, 175}},
                                                       {"orange", {250, 140, 20}},
                                                       {"cyan", {40, 200, 220}},
                                                       {"gray", {120, 120, 120}}}};
  return kPalette;
}

Canvas::Canvas(int width, int height)
    : width_(width), height_(height), rgb_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3) {}

Canvas::Canvas(int width, int height, Color background) : Canvas(width, height) {
  view(rgb_, width_, height_).setTo(scalar(background));
}

Canvas::Canvas(const Image& picture)
    : width_(picture.width()), height_(picture.height()), rgb_(picture.rgb().begin(), picture.rgb().end()) {}

Canvas Canvas::textured(int width, int height, Color base, int x, int y) {
  static const std::vector<std::uint8_t> kNoise = make_tile();
  Canvas canvas(width, height);
  const std::size_t row_bytes = static_cast<std::size_t>(std::min(width, kTile)) * 3;
  std::vector<std::uint8_t> base_row(row_bytes);
  for (std::size_t i = 0; i < row_bytes; i += 3) {
    base_row[i] = base.red;
    base_row[i + 1] = base.green;
    base_row[i + 2] = base.blue;
  }
  for (int row = 0; row < height; ++row)
    for (int column = 0; column < width; column += kTile) {
      const std::uint8_t* noise = &kNoise[static_cast<std::size_t>(((y + row) % kTile * 2 * kTile + x % kTile) * 3)];
      std::uint8_t* out = &canvas.rgb_[static_cast<std::size_t>((row * width + column) * 3)];
      const std::size_t bytes = static_cast<std::size_t>(std::min(kTile, width - column)) * 3;
      for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<std::uint8_t>(base_row[i] + noise[i]);
    }
  return canvas;
}

void Canvas::rectangle(const Box& box, Color color) {
  const cv::Rect whole(0, 0, width_, height_);
  const cv::Rect rect(cv::Point(cvRound(box.x1), cvRound(box.y1)), cv::Point(cvRound(box.x2), cvRound(box.y2)));
  view(rgb_, width_, height_)(rect & whole).setTo(scalar(color));
}

void Canvas::circle(Point center, double radius, Color color) {
  cv::Mat pixels = view(rgb_, width_, height_);
  const int fixed_radius = static_cast<int>(std::lround((radius - 0.5) * (1 << kShift)));
  cv::circle(pixels, fixed(center), std::max(fixed_radius, 0), scalar(color), cv::FILLED, cv::LINE_AA, kShift);
}

void Canvas::polygon(std::span<const Point> corners, Color color) {
  std::vector<cv::Point> points;
  points.reserve(corners.size());
  for (const Point& corner : corners) points.push_back(fixed(corner));
  const cv::Point* contour = points.data();
  const int count = static_cast<int>(points.size());
  cv::Mat pixels = view(rgb_, width_, height_);
  cv::fillPoly(pixels, &contour, &count, 1, scalar(color), cv::LINE_AA, kShift);
}

void Canvas::line(Point from, Point to, Color color, int thickness) {
  cv::Mat pixels = view(rgb_, width_, height_);
  cv::line(pixels, fixed(from), fixed(to), scalar(color), thickness, cv::LINE_AA, kShift);
}

void Canvas::text(Point at, std::string_view text, double height, Color color, int thickness) {
  cv::Mat pixels = view(rgb_, width_, height_);
  cv::putText(pixels, std::string(text), {cvRound(at.x), cvRound(at.y)}, cv::FONT_HERSHEY_SIMPLEX, height / kCapHeight,
              scalar(color), thickness, cv::LINE_AA);
}

double Canvas::text_width(std::string_view text, double height) {
  int baseline = 0;
  return cv::getTextSize(std::string(text), cv::FONT_HERSHEY_SIMPLEX, height / kCapHeight, 1, &baseline).width;
}

Image Canvas::image() && { return Image(width_, height_, std::move(rgb_)); }

}  // namespace agon::env
