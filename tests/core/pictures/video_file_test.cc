// The tests write videos as AVI files of JPEG pictures, which needs no video encoder.
#include "core/pictures/video_file.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>

#include "core/error.h"
#include "core/file.h"
#include "temp_folder.h"

using namespace agon;
using agon::test::TempFolder;
using Catch::Contains;

namespace {

std::string number(std::uint32_t value) {
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(value >> shift & 255);
  return bytes;
}
std::string numbers(std::initializer_list<std::uint32_t> values) {
  std::string bytes;
  for (const std::uint32_t value : values) bytes += number(value);
  return bytes;
}
std::string riff_chunk(const std::string& name, const std::string& bytes) {
  return name + number(static_cast<std::uint32_t>(bytes.size())) + bytes + std::string(bytes.size() % 2, '\0');
}
std::string list(const std::string& name, const std::string& bytes) { return riff_chunk("LIST", name + bytes); }

// An AVI file whose frames have one gray level each, 10 levels apart.
std::string avi(int frames, int width, int height, std::uint32_t fps) {
  const auto count = static_cast<std::uint32_t>(frames), w = static_cast<std::uint32_t>(width),
             h = static_cast<std::uint32_t>(height);
  const std::string main = numbers({1'000'000 / fps, 0, 0, 0x10, count, 0, 1, 0, w, h, 0, 0, 0, 0});
  const std::string stream = "vidsMJPG" + numbers({0, 0, 0, 1, fps, 0, count, 0, 0xFFFFFFFF, 0, 0, w | h << 16});
  const std::string format = numbers({40, w, h, 1 | 24 << 16}) + "MJPG" + numbers({w * h * 3, 0, 0, 0, 0});
  std::string movie, index;
  for (int i = 0; i < frames; ++i) {
    const std::vector<std::uint8_t> rgb(static_cast<std::size_t>(width * height * 3),
                                        static_cast<std::uint8_t>(10 * i));
    const auto jpeg = encode_image(Image(width, height, rgb), ImageFormat::jpeg, 95);
    index +=
        "00dc" + numbers({0x10, static_cast<std::uint32_t>(4 + movie.size()), static_cast<std::uint32_t>(jpeg.size())});
    movie += riff_chunk("00dc", {jpeg.begin(), jpeg.end()});
  }
  const std::string header =
      riff_chunk("avih", main) + list("strl", riff_chunk("strh", stream) + riff_chunk("strf", format));
  return riff_chunk("RIFF", "AVI " + list("hdrl", header) + list("movi", movie) + riff_chunk("idx1", index));
}

std::string write(const TempFolder& folder, const std::string& bytes) {
  write_file_atomically((folder / "a.avi").string(), bytes);
  return folder / "a.avi";
}

FrameSampling by_rate(double fps) {
  return {.spread = FrameSampling::Spread::ends, .count = {}, .fps = fps, .min_frames = 1};
}

}  // namespace

TEST_CASE("frames of a file are chosen by rate and by number, and are those of their places") {
  const TempFolder folder;
  const std::string file = write(folder, avi(20, 32, 16, 10));
  const auto video = load_video(file, by_rate(2.5));
  CHECK(video->fps == 10);
  CHECK(video->source_frames == 20);
  CHECK(video->places == std::vector{0, 5, 10, 14, 19});
  CHECK_FALSE(video->is_whole());
  REQUIRE(video->frames.size() == 5);
  for (std::size_t i = 0; i < video->frames.size(); ++i) {
    const Image& frame = video->frames[i];
    CHECK((frame.width() == 32 && frame.height() == 16));
    CHECK(std::abs(frame.rgb()[300] - 10 * video->places[i]) <= 3);
  }
  FrameSampling few = by_rate(2);
  few.count = 2;
  CHECK(load_video(file, few)->places == std::vector{0, 19});
  few.count = 30;  // more than the video has: frames repeat
  CHECK(load_video(file, few)->frames.size() == 30);
  const auto all = load_video(file, by_rate(100));
  CHECK(all->frames.size() == 20);
  CHECK_FALSE(all->is_whole());  // frames were chosen by rate: a model does not choose again
}

TEST_CASE("red and green and blue of a file's frames keep their places") {
  const TempFolder folder;
  std::string bytes = avi(1, 16, 16, 5);
  std::vector<std::uint8_t> rgb;
  for (int i = 0; i < 256; ++i) rgb.insert(rgb.end(), {250, 120, 10});
  const auto jpeg = encode_image(Image(16, 16, rgb), ImageFormat::jpeg, 95);
  const std::size_t movie = bytes.find("movi");
  bytes = bytes.substr(0, movie - 8) + list("movi", riff_chunk("00dc", {jpeg.begin(), jpeg.end()}));
  const auto video = load_video(write(folder, bytes), by_rate(5));
  REQUIRE(video->frames.size() == 1);
  const auto pixel = video->frames[0].rgb();
  CHECK((pixel[0] > 235 && std::abs(pixel[1] - 120) < 15 && pixel[2] < 25));
}

TEST_CASE("a file that ends early has the frames up to there") {
  const TempFolder folder;
  const std::string whole = avi(20, 32, 16, 10);
  const auto video = load_video(write(folder, whole.substr(0, whole.size() / 2)), by_rate(10));
  CHECK(video->frames.size() == video->places.size());
  CHECK((video->frames.size() > 2 && video->frames.size() < 20));
}

TEST_CASE("what is no video, or is past a limit, is refused with its name") {
  const TempFolder folder;
  const auto refused = [&](const std::string& bytes, const std::string& why, const VideoLimits& limits = {}) {
    CHECK_THROWS_WITH(load_video(write(folder, bytes), by_rate(2), limits), Contains("a.avi") && Contains(why));
  };
  CHECK_THROWS_WITH(load_video(folder / "none.mp4", by_rate(2)), Contains("none.mp4") && Contains("cannot be read"));
  CHECK_THROWS_WITH(check_video(folder.path()), Contains("not a file"));
  refused("", "not an MP4");
  refused("#EXTM3U\n/etc/passwd\n", "not an MP4");
  refused("ffconcat version 1.0\nfile /etc/passwd\n", "not an MP4");
  refused("RIFF\x10\0\0\0WAVE" + std::string(100, 'x'), "not an MP4");
  refused(std::string("RIFF\x10\0\0\0AVI ", 12) + std::string(1000, 'x'), "damaged");
  refused(std::string("\0\0\0\x18"
                      "ftypmp42",
                      12) +
              std::string(1000, '\7'),
          "damaged");
  const std::string good = avi(20, 32, 16, 10);
  refused(good, "32 x 16", {.max_side = 31});
  refused(good, "4 frames", {.max_frames = 3});
  refused(good, "take 6144 bytes", {.max_bytes = 6143});
  refused(good, "bytes, and a video may have 100", {.max_file_bytes = 100});
}

TEST_CASE("a mutated video gives frames or an error, and nothing else") {
  const TempFolder folder;
  const std::string good = avi(6, 32, 16, 10);
  std::uint32_t state = 7;
  int errors = 0;
  for (int i = 0; i < 24; ++i) {
    std::string bytes = good;
    for (int k = 0; k < 12; ++k) {
      state = state * 1664525u + 1013904223u;
      bytes[12 + (state >> 8) % (bytes.size() - 12)] = static_cast<char>(state >> 3);
    }
    try {
      const auto video = load_video(write(folder, bytes), by_rate(10));
      CHECK_FALSE(video->frames.empty());
    } catch (const Error& error) {
      CHECK_THAT(error.what(), Contains("a.avi") || Contains("video"));
      ++errors;
    }
  }
  CHECK(errors < 24);
}
