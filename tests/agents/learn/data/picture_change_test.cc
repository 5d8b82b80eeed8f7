#include "agents/learn/data/picture_change.h"

#include <catch2/catch.hpp>

#include <cmath>

#include "core/error.h"
#include "core/rng.h"

namespace agon::agents {
namespace {

Image random_picture(int width, int height) {
  Rng rng(4);
  std::vector<std::uint8_t> rgb(static_cast<std::size_t>(width * height * 3));
  for (std::uint8_t& value : rgb) value = static_cast<std::uint8_t>(rng.between(0, 255));
  return Image(width, height, std::move(rgb));
}

double mean(const Image& picture) {
  double sum = 0;
  for (const std::uint8_t value : picture.rgb()) sum += value;
  return sum / static_cast<double>(picture.rgb().size());
}

double deviation(const Image& picture) {
  double sum = 0;
  for (const std::uint8_t value : picture.rgb()) sum += std::pow(value - mean(picture), 2);
  return std::sqrt(sum / static_cast<double>(picture.rgb().size()));
}

TEST_CASE("picture_change: white keeps the size alone") {
  const Image picture = random_picture(9, 5), white = changed_picture(picture, PictureChange::white, 0);
  CHECK(white.width() == 9);
  CHECK(white.height() == 5);
  CHECK(mean(white) == 255);
  CHECK(deviation(white) == 0);
}

TEST_CASE("picture_change: a blur keeps the colours and drops the detail") {
  const Image picture = random_picture(48, 40), blurred = changed_picture(picture, PictureChange::blur, 0);
  CHECK(blurred.width() == 48);
  CHECK(mean(blurred) == Approx(mean(picture)).margin(3));
  CHECK(deviation(blurred) < 0.15 * deviation(picture));
}

TEST_CASE("picture_change: noise covers the picture, equal for equal seeds") {
  const Image gray(32, 32, std::vector<std::uint8_t>(32 * 32 * 3, 128));
  const Image noised = changed_picture(gray, PictureChange::noise, 1);
  CHECK(noised == changed_picture(gray, PictureChange::noise, 1));
  CHECK(!(noised == changed_picture(gray, PictureChange::noise, 2)));
  CHECK(mean(noised) == Approx(128).margin(6));
  int cut = 0;  // values beyond half a sigma: 61.7 %
  for (const std::uint8_t value : noised.rgb()) cut += value == 0 || value == 255;
  CHECK(cut / (32.0 * 32 * 3) == Approx(0.617).margin(0.03));
}

TEST_CASE("picture_change: rotation is clockwise by 90 degrees") {
  // Columns 0 1 2, rows 0 1: the first row becomes the last column.
  std::vector<std::uint8_t> rgb;
  for (std::uint8_t i = 0; i < 6; ++i) rgb.insert(rgb.end(), 3, i);
  const Image turned = changed_picture(Image(3, 2, rgb), PictureChange::rotate, 0);
  CHECK(turned.width() == 2);
  CHECK(turned.height() == 3);
  std::vector<int> values;
  for (std::size_t i = 0; i < 6; ++i) values.push_back(turned.rgb()[3 * i]);
  CHECK(values == std::vector<int>{3, 0, 4, 1, 5, 2});
}

TEST_CASE("picture_change: names") {
  CHECK(parse_picture_change("rotate") == PictureChange::rotate);
  CHECK_THROWS_WITH(parse_picture_change("whit"), Catch::Matchers::Contains("Did you mean 'white'?"));
}

}  // namespace
}  // namespace agon::agents
