#include "tools/image_tool.h"

#include <catch2/catch.hpp>

#include "core/rng.h"
#include "tools/tool_set.h"

using namespace agon;
using namespace agon::tools;
using Catch::Contains;

namespace {

// The left half red, the right half blue, the top row white.
Image halves(int width, int height) {
  std::vector<std::uint8_t> rgb;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const bool left = x < width / 2;
      const std::uint8_t white = y == 0 ? 255 : 0;
      rgb.insert(rgb.end(), {std::max<std::uint8_t>(left ? 200 : 20, white), std::max<std::uint8_t>(20, white),
                             std::max<std::uint8_t>(left ? 20 : 200, white)});
    }
  return Image(width, height, std::move(rgb));
}

std::vector<int> pixel(const Image& image, int x, int y) {
  const auto rgb = image.rgb().subspan(static_cast<std::size_t>(y * image.width() + x) * 3, 3);
  return {rgb[0], rgb[1], rgb[2]};
}
using Pixel = std::vector<int>;

struct Tools {
  ToolSet set{{make_image_tool()}, {}};
  Image first;
  explicit Tools(int width = 40, int height = 20) : first(halves(width, height)) { set.add_picture(first); }
  ToolResult call(const Json& arguments) { return set.call({"", "image", arguments}); }
  Image image(const Json& arguments) {
    const ToolResult result = call(arguments);
    INFO((result.error ? result.error->message : ""));
    REQUIRE_FALSE(result.error);
    return result.parts.at(1).image;
  }
  std::string refused(const Json& arguments) {
    const ToolResult result = call(arguments);
    REQUIRE(result.error);
    CHECK(result.error->fault == ToolFault::bad_arguments);
    return result.error->message;
  }
};

}  // namespace

TEST_CASE("pictures are cropped, turned and resized") {
  Tools tools;
  const Image right = tools.image({{"operation", "crop"}, {"box", {500, 500, 1000, 1000}}});
  CHECK(right.width() == 20);
  CHECK(right.height() == 10);
  CHECK(pixel(right, 0, 0) == Pixel{20, 20, 200});
  CHECK(tools.set.pictures().size() == 2);
  CHECK(tools.call({{"operation", "rotate"}, {"picture", 1}, {"degrees", 90}}).parts.at(0).text ==
        "Picture 3: picture 1 rotated, 20 x 40 pixels.");
  const Image turned = tools.set.pictures().back();
  CHECK(pixel(turned, 19, 5) == Pixel{255, 255, 255});  // the top row is the right column
  CHECK(pixel(turned, 0, 0) == Pixel{200, 20, 20});
  CHECK(pixel(tools.image({{"operation", "rotate"}, {"picture", 1}, {"degrees", -90}}), 0, 5) == Pixel{255, 255, 255});
  CHECK(pixel(tools.image({{"operation", "rotate"}, {"picture", 1}, {"degrees", 180}}), 0, 19) == Pixel{255, 255, 255});
  CHECK(tools.image({{"operation", "rotate"}, {"picture", 1}, {"degrees", 360}}) == tools.first);
  const Image askew = tools.image({{"operation", "rotate"}, {"picture", 1}, {"degrees", 45}});
  CHECK(askew.width() == 42);
  CHECK(pixel(askew, 0, 0) == Pixel{255, 255, 255});
  const Image twice = tools.image({{"operation", "resize"}, {"picture", 1}, {"width", 80}});
  CHECK(twice.height() == 40);
  CHECK(tools.image({{"operation", "resize"}, {"picture", 1}, {"width", 8}, {"height", 8}}).width() == 8);
  CHECK(tools.image({{"operation", "crop"}, {"picture", 1}, {"box", {0, 0, 0.1, 0.1}}}).width() == 1);
}

TEST_CASE("light and sharpness change") {
  Tools tools;
  CHECK(pixel(tools.image({{"operation", "brighten"}, {"picture", 1}, {"amount", 10}}), 0, 10) == Pixel{226, 46, 46});
  CHECK(pixel(tools.image({{"operation", "brighten"}, {"picture", 1}, {"amount", -100}}), 0, 10) == Pixel{0, 0, 0});
  const Pixel flat = pixel(tools.image({{"operation", "contrast"}, {"picture", 1}, {"amount", 0}}), 0, 10);
  CHECK(flat[0] == flat[1]);
  CHECK(tools.image({{"operation", "contrast"}, {"picture", 1}, {"amount", 1}}) == tools.first);
  CHECK(tools.image({{"operation", "denoise"}, {"picture", 1}, {"amount", 0}}) == tools.first);
  CHECK(tools.image({{"operation", "sharpen"}, {"picture", 1}, {"amount", 0}}) == tools.first);
  CHECK(tools.image({{"operation", "sharpen"}, {"picture", 1}, {"amount", 2}}) != tools.first);
  Rng rng(1);
  std::vector<std::uint8_t> noise(60 * 60 * 3);
  for (auto& value : noise) value = static_cast<std::uint8_t>(120 + rng.between(-30, 30));
  tools.set.add_picture(Image(60, 60, std::move(noise)));
  const Image smooth = tools.image({{"operation", "denoise"}, {"amount", 10}});
  const auto spread = [](const Image& image) {
    double sum = 0;
    for (const std::uint8_t value : image.rgb()) sum += (value - 120.0) * (value - 120.0);
    return sum;
  };
  CHECK(spread(smooth) < spread(tools.set.pictures()[tools.set.pictures().size() - 2]) / 4);
}

TEST_CASE("shapes are drawn on a copy") {
  Tools tools(100, 100);
  const Image drawn =
      tools.image({{"operation", "draw"},
                   {"shapes",
                    {{{"kind", "box"}, {"at", {100, 100, 900, 900}}, {"color", "green"}, {"thickness", 1}},
                     {{"kind", "point"}, {"at", {500, 500}}, {"color", "yellow"}},
                     {{"kind", "line"}, {"at", {0, 1000, 1000, 1000}}},
                     {{"kind", "text"}, {"at", {200, 400}}, {"text", "A"}, {"color", "white"}}}}});
  CHECK(pixel(drawn, 10, 50) == Pixel{0, 160, 0});
  CHECK(pixel(drawn, 50, 50) == Pixel{255, 255, 0});
  CHECK(pixel(tools.first, 10, 50) == Pixel{200, 20, 20});
}

TEST_CASE("a number that is no picture's is told, however large") {
  Tools tools;
  for (const char* number : {"18446744073709551615", "9223372036854775808", "4294967297", "9223372036854775807",
                             "18446744073709551616", "1e30", "1.0", "1.5", "0", "-0", "-1", "-9223372036854775808"}) {
    const std::string text = fmt::format(R"({{"operation": "rotate", "degrees": 90, "picture": {}}})", number);
    CHECK_THAT(tools.refused(text), Contains("picture"));
    CHECK_THAT(tools.refused(Json::parse(text)), Contains("picture"));
    // Direct calls of the tool are safe too.
    const Image pictures[] = {tools.first};
    if (const std::string given = number; given != "1.0" && given != "1.5" && given != "1e30")
      CHECK(make_image_tool()->call(Json::parse(text), {pictures, 1}).error->fault == ToolFault::bad_arguments);
  }
  CHECK(tools.image({{"operation", "rotate"}, {"degrees", 90}, {"picture", 1}}).width() == 20);
}

TEST_CASE("arguments that fit no operation are told") {
  Tools tools;
  CHECK(tools.refused({{"operation", "crop"}}) == "crop needs box.");
  CHECK_THAT(tools.refused({{"operation", "crop"}, {"box", {500, 0, 500, 10}}}), Contains("x1 < x2"));
  CHECK_THAT(tools.refused({{"operation", "crop"}, {"box", {-1, 0, 500, 10}}}), Contains("box[0] is -1"));
  CHECK_THAT(tools.refused({{"operation", "crop"}, {"box", {0, 0, 500}}}), Contains("minItems 4"));
  CHECK_THAT(tools.refused({{"operation", "crop"}, {"box", {0, 0, 500, 1001}}}), Contains("box[3] is 1001"));
  CHECK_THAT(tools.refused({{"operation", "flip"}}), Contains("it must be one of"));
  CHECK_THAT(tools.refused({{"operation", "crop"}, {"picture", 2}, {"box", {0, 0, 1, 1}}}),
             Contains("picture is 2, but there are 1"));
  CHECK_THAT(tools.refused({{"operation", "resize"}}), Contains("width, height or both"));
  CHECK_THAT(tools.refused({{"operation", "resize"}, {"width", 4096}, {"height", 5000}}), Contains("maximum 4096"));
  CHECK_THAT(tools.refused({{"operation", "resize"}, {"height", 4000}}), Contains("8000 x 4000"));
  CHECK_THAT(tools.refused({{"operation", "contrast"}, {"amount", -1}}), Contains("takes 0 to 10"));
  CHECK_THAT(tools.refused({{"operation", "draw"}, {"shapes", {{{"kind", "line"}, {"at", {1, 2}}}}}}),
             Contains("takes 4 numbers"));
  CHECK_THAT(tools.refused({{"operation", "draw"}, {"shapes", {{{"kind", "text"}, {"at", {1, 2}}}}}}),
             Contains("needs its text"));
  ToolSet none({make_image_tool()}, {});
  CHECK(none.call({"", "image", {{"operation", "rotate"}, {"degrees", 1}}}).error->message ==
        "there is no picture yet.");
  CHECK(tools.set.pictures().size() == 1);
}

TEST_CASE("any arguments give a picture or an error") {
  Rng rng(9);
  const std::vector<std::string> operations = {"crop",     "rotate",  "resize",  "brighten",
                                               "contrast", "denoise", "sharpen", "draw"};
  for (int round = 0; round < 300; ++round) {
    Tools tools(rng.between(1, 30), rng.between(1, 30));
    Json arguments{{"operation", rng.pick(operations)},
                   {"amount", rng.uniform() * 20 - 5},
                   {"degrees", rng.uniform() * 800 - 400}};
    if (rng.chance(0.5)) arguments["width"] = rng.between(1, 50);
    if (rng.chance(0.5)) arguments["height"] = rng.between(1, 50);
    arguments["box"] = {rng.uniform() * 1000, rng.uniform() * 1000, rng.uniform() * 1000, rng.uniform() * 1000};
    arguments["shapes"] = {{{"kind", rng.chance(0.5) ? "box" : "line"}, {"at", arguments["box"]}}};
    const ToolResult result = tools.call(arguments);
    CHECK((result.error || result.parts.at(1).image.width() > 0));
  }
}
