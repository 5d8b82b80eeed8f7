#include "core/pictures/video.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <string>

#include "core/error.h"
#include "core/message.h"
#include "core/pictures/video_json.h"

using agon::Image;
using agon::make_video;
using agon::Video;
using Catch::Matchers::Contains;

namespace {

Image frame(int width, std::uint8_t value) {
  return Image(width, 1, std::vector<std::uint8_t>(static_cast<std::size_t>(width) * 3, value));
}

}  // namespace

TEST_CASE("all frames of a source make a whole video, some of them do not") {
  const auto whole = make_video({frame(2, 1), frame(2, 2), frame(2, 3)}, 12.5);
  CHECK(whole->is_whole());
  CHECK(whole->places == std::vector{0, 1, 2});
  CHECK(whole->source_frames == 3);
  const auto chosen =
      make_video({.frames = {frame(2, 1), frame(2, 3)}, .places = {0, 2}, .source_frames = 3, .fps = 5});
  CHECK_FALSE(chosen->is_whole());
}

TEST_CASE("a video's hash is that of its frames, their places and its rate") {
  const auto hash = [](std::vector<Image> frames, std::vector<int> places, double fps) {
    return make_video({std::move(frames), std::move(places), 9, fps})->hash();
  };
  const auto base = hash({frame(2, 1), frame(2, 2)}, {0, 4}, 2);
  CHECK(base == hash({frame(2, 1), frame(2, 2)}, {0, 4}, 2));
  CHECK(base != hash({frame(2, 2), frame(2, 1)}, {0, 4}, 2));
  CHECK(base != hash({frame(2, 1), frame(2, 2)}, {0, 5}, 2));
  CHECK(base != hash({frame(2, 1), frame(2, 2)}, {0, 4}, 3));
}

TEST_CASE("a video that is none is refused with what is wrong") {
  CHECK_THROWS_WITH(make_video({}, 2), Contains("no frames"));
  CHECK_THROWS_WITH(make_video({frame(2, 1), frame(3, 1)}, 2), Contains("2 x 1 and of 3 x 1"));
  for (const double fps : {0.0, -1.0, std::numeric_limits<double>::infinity(), std::nan("")})
    CHECK_THROWS_WITH(make_video({frame(2, 1)}, fps), Contains("rate above 0"));
  CHECK_THROWS_WITH(make_video({{frame(2, 1)}, {0, 1}, 4, 2}), Contains("2 places for 1 frames"));
  for (const int place : {-1, 4}) CHECK_THROWS_WITH(make_video({{frame(2, 1)}, {place}, 4, 2}), Contains("below 4"));
  CHECK_THROWS_WITH(make_video({{frame(2, 1), frame(2, 1)}, {2, 1}, 4, 2}), Contains("do not ascend"));
}

TEST_CASE("a video as JSON names its frames, and is read back") {
  const auto video = make_video({{frame(2, 1), frame(2, 8)}, {3, 7}, 9, 23.976});
  const agon::Json json = agon::video_json(*video, [](const Image& image) { return std::to_string(image.rgb()[0]); });
  CHECK(json["frames"] == agon::Json{"1", "8"});
  const auto drawn = [](const std::string& name) { return frame(2, static_cast<std::uint8_t>(std::stoi(name))); };
  CHECK(agon::video_in(agon::Json::parse(json.dump()), drawn)->hash() == video->hash());
  for (const char* key : {"frames", "places", "source_frames", "fps"}) {
    agon::Json without = json;
    without.erase(key);
    CHECK_THROWS_WITH(agon::video_in(without, drawn), Contains("video: "));
    without[key] = agon::Json::array({"x"});
    CHECK_THROWS(agon::video_in(without, drawn));
  }
  CHECK_FALSE(json.contains("chosen"));
  agon::Video all = *make_video({frame(2, 1), frame(2, 8)}, 5);
  all.is_chosen = true;
  const agon::Json chosen = agon::video_json(all, [](const Image& image) { return std::to_string(image.rgb()[0]); });
  CHECK_FALSE(agon::video_in(agon::Json::parse(chosen.dump()), drawn)->is_whole());
  CHECK(all.hash() != make_video({frame(2, 1), frame(2, 8)}, 5)->hash());
  agon::Json few = json;
  few["frames"].erase(0);
  CHECK_THROWS_WITH(agon::video_in(few, drawn), Contains("2 places for 1 frames"));
}

TEST_CASE("a part is a text, an image or a video") {
  const auto video = make_video({frame(2, 1)}, 2);
  const agon::Part text = agon::Part::of("a"), image = agon::Part::of(frame(2, 1)), seen = agon::Part::of(video);
  CHECK((text.is_text() && !text.is_image() && !text.is_video()));
  CHECK((!image.is_text() && image.is_image() && !image.is_video()));
  CHECK((!seen.is_text() && !seen.is_image() && seen.is_video()));
  CHECK(text.content() == "a");
  CHECK(image.content() == frame(2, 1).hash().hex());
  CHECK(seen.content() == video->hash().hex());
}
