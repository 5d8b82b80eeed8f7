#include "kernels/patchify/patchify.h"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

using agon::kernels::patchify;
using agon::kernels::patchify_problem;
using agon::kernels::PatchifyInput;

namespace {

struct Picture {
  std::vector<std::uint8_t> rgb;
  PatchifyInput input;
};

Picture picture(int height, int width, int patch, int merge, int temporal) {
  Picture result;
  result.rgb.resize(static_cast<std::size_t>(height) * static_cast<std::size_t>(width) * 3);
  std::uint32_t state = 12345;
  for (std::uint8_t& byte : result.rgb)
    byte = static_cast<std::uint8_t>((state = state * 1664525u + 1013904223u) >> 24);
  result.input = {result.rgb.data(),   height, width, patch, merge, temporal, {0.48f, 0.46f, 0.41f},
                  {0.27f, 0.26f, 0.5f}};
  return result;
}

std::vector<float> output_for(const PatchifyInput& in) {
  return std::vector<float>(static_cast<std::size_t>(in.height) * static_cast<std::size_t>(in.width * 3 * in.temporal),
                            std::nanf(""));
}

std::vector<float> patch_reference(const PatchifyInput& in) {
  auto out = output_for(in);
  agon::kernels::reference::patchify(in, out.data());
  return out;
}

}  // namespace

TEST_CASE("patches of a picture with one pixel a patch come in merge-block order") {
  std::vector<std::uint8_t> rgb(4 * 4 * 3);
  for (std::size_t i = 0; i < rgb.size(); ++i) rgb[i] = static_cast<std::uint8_t>(i / 3);  // the pixel's number
  const PatchifyInput in{rgb.data(), 4, 4, 1, 2, 1, {0, 0, 0}, {1 / 255.0f, 1 / 255.0f, 1 / 255.0f}};
  const int order[] = {0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15};
  auto out = output_for(in);
  patchify(in, out.data());
  for (std::size_t i = 0; i < out.size(); ++i) REQUIRE(out[i] == Approx(order[i / 3]));
  REQUIRE(out == patch_reference(in));
}

TEST_CASE("a row holds channel, copy, y, x, a value is (byte / 255 - mean) / std") {
  const std::vector<std::uint8_t> rgb = {0, 51, 255, 1, 52, 254, 2, 53, 253, 3, 54, 252};  // 2 x 2
  const PatchifyInput in{rgb.data(), 2, 2, 2, 1, 2, {0.5f, 0.25f, 0}, {0.5f, 1, 2}};
  auto out = output_for(in);
  patchify(in, out.data());
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t copy = 0; copy < 2; ++copy) {
      REQUIRE(out[copy * 4 + i] == Approx((rgb[3 * i] / 255.0 - 0.5) / 0.5).margin(1e-6));
      REQUIRE(out[8 + copy * 4 + i] == Approx(rgb[3 * i + 1] / 255.0 - 0.25).margin(1e-6));
      REQUIRE(out[16 + copy * 4 + i] == Approx(rgb[3 * i + 2] / 510.0).margin(1e-6));
    }
}

TEST_CASE("patchify equals its reference for any shape") {
  const int shapes[][5] = {{28, 28, 14, 2, 2}, {56, 140, 14, 2, 2}, {3, 3, 3, 1, 1},
                           {15, 45, 5, 3, 1},  {7, 1, 1, 1, 3},     {64, 32, 16, 2, 2},
                           {33, 99, 11, 3, 2}, {4, 4, 1, 4, 1},     {364, 252, 14, 2, 2}};
  for (const auto& [height, width, patch, merge, temporal] : shapes) {
    const Picture p = picture(height, width, patch, merge, temporal);
    auto out = output_for(p.input);
    patchify(p.input, out.data());
    const auto expected = patch_reference(p.input);
    for (std::size_t i = 0; i < out.size(); ++i)
      REQUIRE(std::abs(out[i] - expected[i]) <= 1e-6f + 1e-6f * std::abs(expected[i]));
  }
}

TEST_CASE("the frames of a video are written one after another, each beside the others") {
  for (const auto& [patch, merge, temporal] : {std::array{4, 2, 2}, std::array{3, 1, 3}}) {
    const Picture first = picture(24, 48, patch, merge, temporal);
    auto both = output_for(first.input), expected = both;
    std::vector<std::uint8_t> rgb = first.rgb;
    for (int frame = 0; frame < temporal; ++frame) {
      PatchifyInput in = first.input;
      in.rgb = rgb.data();
      in.frame = frame;
      patchify(in, both.data());
      agon::kernels::reference::patchify(in, expected.data());
      for (std::uint8_t& byte : rgb) byte = static_cast<std::uint8_t>(byte * 5 + 1);
    }
    for (std::size_t i = 0; i < both.size(); ++i) REQUIRE(std::abs(both[i] - expected[i]) < 1e-5f);
    const std::size_t square = static_cast<std::size_t>(patch * patch);
    CHECK(std::vector<float>(both.begin(), both.begin() + patch * patch) !=
          std::vector<float>(both.begin() + patch * patch, both.begin() + 2 * patch * patch));
    auto still = output_for(first.input);
    patchify(first.input, still.data());
    CHECK(std::equal(still.begin(), still.begin() + static_cast<std::ptrdiff_t>(square), both.begin()));
  }
}

TEST_CASE("patchify does not depend on how its work is cut") {
  const Picture p = picture(84, 56, 14, 2, 2);
  auto whole = output_for(p.input), cut = output_for(p.input);
  patchify(p.input, whole.data());
  patchify(p.input, cut.data(), [](std::int64_t count, const auto& body) {
    for (std::int64_t i = count; i-- > 0;) body(i, i + 1);
  });
  REQUIRE(whole == cut);
}

TEST_CASE("patchify_problem names what is wrong") {
  Picture p = picture(28, 56, 14, 2, 2);
  REQUIRE(patchify_problem(p.input) == nullptr);
  const auto problem_with = [&](auto change) {
    PatchifyInput in = p.input;
    change(in);
    const char* problem = patchify_problem(in);
    return std::string(problem == nullptr ? "" : problem);
  };
  REQUIRE(problem_with([](auto& in) { in.height = 29; }) == "height and width are not multiples of patch * merge");
  REQUIRE(problem_with([](auto& in) { in.width = 14; }) == "height and width are not multiples of patch * merge");
  REQUIRE(problem_with([](auto& in) {
            in.patch = 1 << 20;
            in.merge = 1 << 20;
          }) != "");
  REQUIRE(problem_with([](auto& in) { in.height = 0; }) == "the picture is empty");
  REQUIRE(problem_with([](auto& in) { in.merge = 0; }) == "patch, merge and temporal are at least 1");
  REQUIRE(problem_with([](auto& in) { in.frame = 2; }) == "the frame is past those of a patch");
  REQUIRE(problem_with([](auto& in) { in.rgb = nullptr; }) == "there are no pixels");
  REQUIRE(problem_with([](auto& in) { in.std[1] = 0; }) == "std is not positive");
}
