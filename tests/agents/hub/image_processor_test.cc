#include "agents/hub/pictures/image_processor.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "agents/hub/pictures/picture_threads.h"
#include "core/error.h"
#include "core/rng.h"
#include "core/text.h"
#include "paths.h"

using agon::Image;
using agon::Json;
using namespace agon::agents;
using Catch::Matchers::Contains;

namespace {

const std::string kProcessors = agon::test::golden_path("image_processor/");

const Json& expected_patches() {
  static const Json kExpected = Json::parse(agon::read_file(kProcessors + "expected.json"));
  return kExpected;
}

Image picture(int width, int height, std::uint32_t state) {  // drawn as in script/golden.d/image_processor.py
  std::vector<std::uint8_t> rgb;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < 3; ++c) {
        state = state * 1664525u + 1013904223u;
        const int edge = (x / 7 + y / 5 + c) % 3 == 0 ? 255 : 0;
        rgb.push_back(
            static_cast<std::uint8_t>((edge + x * 3 + y * 2 + static_cast<int>((state >> 24) % 64)) / 2 % 256));
      }
  return Image(width, height, std::move(rgb));
}

// As in script/golden.d/image_processor.py: with one channel, with two colours, and with few colours.
Image as_mode(const Image& image, const std::string& mode) {
  std::vector<std::uint8_t> rgb(image.rgb().begin(), image.rgb().end());
  for (std::size_t i = 0; i < rgb.size(); ++i) {
    if (mode == "L") rgb[i] = image.rgb()[i - i % 3];
    if (mode == "1") rgb[i] = image.rgb()[i - i % 3] > 127 ? 255 : 0;
    if (mode == "P") rgb[i] = static_cast<std::uint8_t>(rgb[i] / 64 * 85);
  }
  return Image(image.width(), image.height(), std::move(rgb));
}

std::uint32_t checksum(const Image& image) {
  std::uint32_t sum = 0, place = 0;
  for (const std::uint8_t byte : image.rgb()) sum += byte * (place++ * 2654435761u | 1u);
  return sum;
}

ImageProcessorConfig limits(std::int64_t low, std::int64_t high) {
  ImageProcessorConfig config;
  config.min_pixels = low;
  config.max_pixels = high;
  return config;
}

ImageProcessorConfig parse(const Json& json) { return parse_image_processor_config(json, "x.json"); }

}  // namespace

TEST_CASE("resize_bicubic gives PIL's very bytes") {
  const std::string bytes = agon::read_file(kProcessors + "resized.bin");
  for (const Json& row : expected_patches()["resizes"]) {
    INFO(row.dump());
    const Size to{row["to"][0], row["to"][1]};
    const Image resized = resize_bicubic(picture(row["from"][0], row["from"][1], row["seed"]), to);
    REQUIRE(Size{resized.width(), resized.height()} == to);
    const std::string_view ours(reinterpret_cast<const char*>(resized.rgb().data()), resized.rgb().size());
    REQUIRE(ours == std::string_view(bytes).substr(row["offset"], ours.size()));
  }
}

TEST_CASE("resize_bicubic gives torchvision's very bytes, of pictures of every kind") {
  const auto& rows = expected_patches()["torchvision"];
  REQUIRE(rows.size() == 200);
  int other_than_pil = 0;
  for (const Json& row : rows) {
    INFO(row.dump());
    const Size to{row["to"][0], row["to"][1]};
    const Image given = as_mode(picture(row["from"][0], row["from"][1], row["seed"]), row["mode"]);
    const Image resized = resize_bicubic(given, to, Resampler::torchvision);
    REQUIRE(Size{resized.width(), resized.height()} == to);
    REQUIRE(checksum(resized) == row["checksum"].get<std::uint32_t>());
    other_than_pil += checksum(resize_bicubic(given, to)) != checksum(resized);
  }
  CHECK(other_than_pil > 50);
}

TEST_CASE("smart_resize equals transformers'") {
  for (const Json& row : expected_patches()["sizes"]) {
    INFO(row.dump());
    const Size size = smart_resize({row[2], row[3]}, limits(row[0], row[1]));
    REQUIRE(size == Size{row[4], row[5]});
  }
  REQUIRE_THROWS_WITH(smart_resize({2010, 10}, {}), Contains("2010 x 10") && Contains("200 times"));
  REQUIRE_THROWS_AS(smart_resize({0, 10}, {}), agon::Error);
}

TEST_CASE("Qwen3-VL's preprocessor_config.json: patches of 16 pixels and its own limits of area") {
  const auto config = parse({{"size", {{"longest_edge", 16777216}, {"shortest_edge", 65536}}},
                             {"patch_size", 16},
                             {"temporal_patch_size", 2},
                             {"merge_size", 2},
                             {"image_mean", {0.5, 0.5, 0.5}},
                             {"image_std", {0.5, 0.5, 0.5}},
                             {"processor_class", "Qwen3VLProcessor"},
                             {"image_processor_type", "Qwen2VLImageProcessorFast"}});
  REQUIRE(config.patch_size == 16);
  REQUIRE(config.mean == std::array<float, 3>{0.5f, 0.5f, 0.5f});
  const Json sizes = Json::parse(agon::read_file(agon::test::golden_path("qwen_vl/generation/expected.json")))["sizes"];
  for (const Json& row : sizes) {
    INFO(row.dump());
    REQUIRE(smart_resize({row[0], row[1]}, config) == Size{row[2], row[3]});
  }
}

TEST_CASE("patches equal those of transformers' processors, PIL's and torchvision's") {
  for (const Json& row : expected_patches()["patches"]) {
    INFO(row["from"].dump());
    auto config = limits(3136, 12544);
    if (row["processor"] == "torch") config.resampler = Resampler::torchvision;
    const PatchedImage image = process_image(picture(row["from"][0], row["from"][1], row["seed"]), config);
    REQUIRE(Json({image.grid.t, image.grid.h, image.grid.w}) == row["grid"]);
    REQUIRE(image.grid.patches() == row["shape"][0].get<int>());
    REQUIRE(image_tokens(image.grid, config) * 4 == image.grid.patches());
    const auto width = row["shape"][1].get<std::size_t>();
    REQUIRE(image.patches.size() == width * static_cast<std::size_t>(image.grid.patches()));
    for (std::size_t i = 0; i < row["every_97th"].size(); ++i)
      REQUIRE(std::abs(image.patches[97 * i] - row["every_97th"][i].get<double>()) < 2e-6);
    for (std::size_t i = 0; i < row["row_sums"].size(); ++i) {
      const double sum = std::accumulate(image.patches.begin() + static_cast<std::ptrdiff_t>(i * width),
                                         image.patches.begin() + static_cast<std::ptrdiff_t>((i + 1) * width), 0.0);
      REQUIRE(std::abs(sum - row["row_sums"][i].get<double>()) < 1e-3);
    }
  }
}

TEST_CASE("a large picture gives the same patches on several threads") {
  const Image image = picture(640, 480, 3);
  const agon::kernels::ParallelFor backwards = [](std::int64_t count, const auto& body) {
    while (count-- > 0) body(count, count + 1);
  };
  for (const Resampler resampler : {Resampler::pil, Resampler::torchvision})
    for (const Size size : {Size{532, 392}, Size{700, 480}, Size{640, 504}}) {
      const Image alone = resize_bicubic(image, size, resampler);
      const Image shared = resize_bicubic(image, size, resampler, backwards);
      CHECK(std::ranges::equal(alone.rgb(), shared.rgb()));
    }
  const Image resized = resize_bicubic(image, smart_resize({image.width(), image.height()}, {}));
  std::vector<float> expected(resized.rgb().size() * 2);
  agon::kernels::patchify(patchify_input(resized, {}), expected.data());
  CHECK(std::ranges::equal(process_image(image, {}).patches, expected));
}

TEST_CASE("threads of pictures: ranges cover everything once, and what a body throws is thrown") {
  const agon::kernels::ParallelFor parallel = picture_threads(1'000'000);
  if (!parallel) return;  // one processor
  for (const std::int64_t count : {0, 1, 2, 3, 7, 100}) {
    std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
    parallel(count, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
    });
    for (const auto& times : seen) CHECK(times == 1);
  }
  for (const std::int64_t bad : {0, 99})
    CHECK_THROWS_WITH(parallel(100,
                               [&](std::int64_t begin, std::int64_t end) {
                                 if (begin <= bad && bad < end) throw agon::Error("no memory for {}", bad);
                               }),
                      Contains("no memory"));
  CHECK_FALSE(picture_threads(1000));
}

TEST_CASE("preprocessor_config.json names the resampler") {
  CHECK(parse(Json::object()).resampler == Resampler::pil);
  CHECK(parse({{"image_processor_type", "Qwen2VLImageProcessor"}}).resampler == Resampler::pil);
  CHECK(parse({{"image_processor_type", "Qwen2VLImageProcessorPil"}}).resampler == Resampler::pil);
  const auto fast = parse({{"image_processor_type", "Qwen2VLImageProcessorFast"}});
  CHECK(fast.resampler == Resampler::torchvision);
  CHECK(parse(to_json(fast)).resampler == Resampler::torchvision);
  for (const Resampler resampler : {Resampler::pil, Resampler::torchvision})
    CHECK(find_resampler(name_of(resampler)) == resampler);
  CHECK_FALSE(find_resampler("opencv"));
}

TEST_CASE("a patched image carries the hash of the picture as given") {
  const Image image = picture(40, 30, 1);
  REQUIRE(process_image(image, {}).hash == image.hash());
}

TEST_CASE("a picture that is not resized must fit the patches") {
  ImageProcessorConfig config;
  config.do_resize = false;
  REQUIRE(process_image(picture(56, 28, 1), config).grid == ImageGrid{1, 2, 4});
  REQUIRE_THROWS_WITH(process_image(picture(56, 29, 1), config), Contains("56 x 29") && Contains("multiples"));
  REQUIRE_THROWS_AS(process_image(Image(), config), agon::Error);
}

TEST_CASE("preprocessor_config.json is read in every form that the hub has") {
  const auto saved = parse(expected_patches()["saved_config"]);  // as transformers 5 writes it
  REQUIRE(saved.min_pixels == 3136);
  REQUIRE(saved.max_pixels == 50176);
  REQUIRE(saved.patch_size == 16);
  REQUIRE(saved.std == ImageProcessorConfig().std);
  const auto older =
      parse({{"min_pixels", 784}, {"max_pixels", 1568}, {"size", {{"shortest_edge", 5}, {"longest_edge", 6}}}});
  REQUIRE(older.min_pixels == 784);
  REQUIRE(older.max_pixels == 1568);
  REQUIRE(parse({{"size", {{"min_pixels", 784}, {"max_pixels", 1568}}}}).max_pixels == 1568);
  REQUIRE(parse(Json::object()).max_pixels == 1003520);
}

TEST_CASE("preprocessor_config.json survives a round trip") {
  ImageProcessorConfig config = limits(784, 1568);
  config.patch_size = 7;
  config.temporal_patch_size = 1;
  config.do_resize = false;
  config.mean = {0.1f, 0.2f, 0.3f};
  const Json json = to_json(config);
  REQUIRE(json["image_mean"].dump() == "[0.1,0.2,0.3]");
  REQUIRE(to_json(parse(json)) == json);
}

TEST_CASE("a preprocessor_config.json that agon cannot follow is refused with the key") {
  const auto refused = [](const Json& json, const std::string& key) {
    REQUIRE_THROWS_WITH(parse(json), Contains("x.json") && Contains(key));
  };
  refused(Json::array(), "JSON object");
  refused({{"image_processor_type", "ViTImageProcessor"}}, "ViTImageProcessor");
  refused({{"patch_size", 0}}, "patch_size");
  refused({{"patch_size", "14"}}, "patch_size");
  refused({{"merge_size", 1 << 20}}, "merge_size");
  refused({{"max_pixels", 1ll << 60}}, "max_pixels");
  refused({{"min_pixels", 200}, {"max_pixels", 100}}, "above");
  refused({{"size", 5}}, "size");
  refused({{"image_std", {0, 1, 1}}}, "image_std");
  refused({{"image_mean", {0.5, 0.5}}}, "image_mean");
  refused({{"resample", 2}}, "resample");
  refused({{"rescale_factor", 1}}, "rescale_factor");
  refused({{"do_normalize", false}}, "do_normalize");
  refused({{"do_resize", 1}}, "do_resize");
}

TEST_CASE("a mutated preprocessor_config.json is refused or read, never more") {
  const std::string file = to_json(ImageProcessorConfig()).dump(1);
  agon::Rng rng(5);
  for (int i = 0; i < 2000; ++i) {
    std::string mutated = file;
    for (int n = rng.between(1, 3); n > 0; --n)
      mutated[static_cast<std::size_t>(rng.between(0, static_cast<int>(file.size()) - 1))] =
          "0123456789-eE.,:{}[]\"n"[rng.between(0, 21)];
    const Json json = Json::parse(mutated, nullptr, false);
    if (json.is_discarded()) continue;
    try {
      const auto config = parse(json);
      REQUIRE(config.patch_size > 0);
      REQUIRE(config.min_pixels <= config.max_pixels);
    } catch (const agon::Error&) {
    }
  }
}
