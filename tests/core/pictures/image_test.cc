#include "core/pictures/image.h"
#include "core/file.h"

#include <sys/resource.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/error.h"
#include "core/json.h"
#include "core/pictures/image_header.h"
#include "core/rng.h"
#include "core/text.h"
#include "cpu_time.h"
#include "paths.h"

using namespace agon;
using Catch::Contains;

namespace {

const std::string kPictures = agon::test::golden_path("images/");
constexpr std::uint8_t kScan[] = {0xFF, 0xDA};

Image noise(int width, int height, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<std::uint8_t> rgb(std::size_t(width) * std::size_t(height) * 3);
  for (auto& value : rgb) value = static_cast<std::uint8_t>(rng.between(0, 255));
  return Image(width, height, std::move(rgb));
}

Image gradient(int width, int height) {
  std::vector<std::uint8_t> rgb;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int value : {x * 255 / width, y * 255 / height, 128}) rgb.push_back(static_cast<std::uint8_t>(value));
  return Image(width, height, std::move(rgb));
}

double mean_difference(const Image& a, const Image& b) {
  REQUIRE(a.rgb().size() == b.rgb().size());
  double sum = 0;
  for (std::size_t i = 0; i < a.rgb().size(); ++i) sum += std::abs(int(a.rgb()[i]) - int(b.rgb()[i]));
  return sum / static_cast<double>(a.rgb().size());
}

std::vector<std::uint8_t> bytes_of(const std::string& path) {
  const std::string text = read_file(path);
  return {text.begin(), text.end()};
}

std::vector<std::uint8_t> png_of_size(std::uint32_t width, std::uint32_t height) {
  std::vector<std::uint8_t> bytes = encode_image(gradient(4, 4), ImageFormat::png);
  for (std::size_t i = 0; i < 4; ++i) {
    bytes[16 + i] = static_cast<std::uint8_t>(width >> (24 - 8 * i));
    bytes[20 + i] = static_cast<std::uint8_t>(height >> (24 - 8 * i));
  }
  return bytes;
}

long peak_kilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

}  // namespace

TEST_CASE("an image keeps its pixels and shares them between copies") {
  const Image image(2, 1, {1, 2, 3, 4, 5, 6});
  const Image copy = image;
  CHECK(copy.rgb().data() == image.rgb().data());
  CHECK(image.width() == 2);
  CHECK(image.height() == 1);
  CHECK(image.rgb()[4] == 5);
  CHECK(image == Image(2, 1, {1, 2, 3, 4, 5, 6}));
  CHECK_FALSE(image == Image(2, 1, {1, 2, 3, 4, 5, 7}));
  CHECK_FALSE(image == Image(1, 2, {1, 2, 3, 4, 5, 6}));
  CHECK(Image().empty());
  CHECK(Image() == Image());
  CHECK_FALSE(Image() == image);
}

TEST_CASE("the hash is of size and pixels, and equal from every thread") {
  CHECK(gradient(8, 6).hash() == gradient(8, 6).hash());
  CHECK(Image(2, 1, {1, 2, 3, 4, 5, 6}).hash() != Image(1, 2, {1, 2, 3, 4, 5, 6}).hash());
  CHECK(noise(8, 6, 1).hash() != noise(8, 6, 2).hash());
  const Image shared = noise(200, 100, 3);
  std::vector<Hash128> seen(8);
  {
    std::vector<std::jthread> threads;
    for (auto& hash : seen) threads.emplace_back([&hash, shared] { hash = shared.hash(); });
  }
  for (const auto& hash : seen) CHECK(hash == noise(200, 100, 3).hash());
}

TEST_CASE("the picture as a PNG is made once, and shared between copies and threads") {
  const Image image = noise(37, 21, 4), copy = image;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([copy] { copy.png(); });
  }
  CHECK(image.png().data() == copy.png().data());
  CHECK(decode_image(image.png(), "a") == image);
}

TEST_CASE("a PNG has a palette up to 256 colours, and none from 257 on") {
  const auto of_colours = [](int colours) {
    std::vector<std::uint8_t> rgb(std::size_t{3} * 40 * 30);
    for (int i = 0; i < 40 * 30; ++i) {
      rgb[static_cast<std::size_t>(3 * i)] = static_cast<std::uint8_t>(i % colours);
      rgb[static_cast<std::size_t>(3 * i + 2)] = static_cast<std::uint8_t>(i % colours / 256 + 7);
    }
    return Image(40, 30, std::move(rgb));
  };
  constexpr std::size_t kColourType = 25;  // its byte in a PNG
  for (const int colours : {1, 2, 16, 17, 255, 256, 257, 1000}) {
    CAPTURE(colours);
    const Image image = of_colours(colours);
    CHECK(image.png()[kColourType] == (colours <= 256 ? 3 : 2));
    CHECK(decode_image(image.png(), "a") == image);
    CHECK(encode_image(image, ImageFormat::png)[kColourType] == 2);
  }
}

TEST_CASE("PNG keeps every pixel, JPEG and WebP come close, closer with more quality") {
  const Image image = noise(37, 21, 4);
  CHECK(decode_image(encode_image(image, ImageFormat::png), "a") == image);
  const Image smooth = gradient(64, 48);
  for (ImageFormat format : {ImageFormat::jpeg, ImageFormat::webp}) {
    const auto rough = encode_image(smooth, format, 5), fine = encode_image(smooth, format, 95);
    CHECK(rough.size() < fine.size());
    CHECK(mean_difference(decode_image(fine, "b"), smooth) < 3);
    CHECK(mean_difference(decode_image(fine, "b"), smooth) < mean_difference(decode_image(rough, "b"), smooth));
  }
}

TEST_CASE("pictures decode to the pixels that Pillow reads") {
  const Json golden = Json::parse(read_file(kPictures + "expected.json"));
  for (const auto& [name, expected] : golden["pictures"].items()) {
    INFO(name);
    const Image image = load_image(kPictures + name);
    const Image wanted(expected["width"], expected["height"], expected["rgb"]);
    REQUIRE(image.width() == wanted.width());
    REQUIRE(image.height() == wanted.height());
    if (name.ends_with(".jpg")) {
      CHECK(mean_difference(image, wanted) < 1);
    } else {
      CHECK(mean_difference(image, wanted) < 0.35);  // rounding of alpha and of 16 bits
    }
  }
}

TEST_CASE("a decompression bomb is refused by its header, before its pixels take memory") {
  const long before = peak_kilobytes();
  CHECK_THROWS_WITH(decode_image(png_of_size(20'000, 20'000), "bomb.png"),
                    Contains("bomb.png") && Contains("20000 x 20000"));
  CHECK_THROWS_WITH(decode_image(png_of_size(16'384, 16'384), "bomb.png"), Contains("16384 x 16384"));
  CHECK_THROWS_WITH(decode_image(png_of_size(0xFFFFFFFF, 0xFFFFFFFF), "b"), Contains("4294967295"));
  CHECK_THROWS_WITH(decode_image(png_of_size(0, 4), "b"), Contains("0 x 4"));
  CHECK(peak_kilobytes() - before < 400'000);  // the pixels would take 1.2 GB
  CHECK_THROWS_WITH(decode_image(bytes_of(kPictures + "rgb.png"), "b", {.max_pixels = 95}), Contains("12 x 8"));
  CHECK_THROWS_WITH(decode_image(bytes_of(kPictures + "gray.jpg"), "b", {.max_side = 11}), Contains("12 x 8"));
  CHECK_THROWS_WITH(decode_image(bytes_of(kPictures + "lossless.webp"), "b", {.max_side = 11}), Contains("12 x 8"));
  CHECK_THROWS_WITH(decode_image(bytes_of(kPictures + "alpha.webp"), "b", {.max_side = 11}), Contains("12 x 8"));
  CHECK_THROWS_WITH(decode_image(bytes_of(kPictures + "rgb.png"), "b", {.max_encoded_bytes = 10}), Contains("bytes"));
  CHECK_THROWS_WITH(load_image(kPictures + "rgb.png", {.max_encoded_bytes = 10}), Contains("rgb.png"));
}

TEST_CASE("a picture that is none is an error that names it") {
  const std::string text = "this is not a picture";
  CHECK_THROWS_WITH(decode_image(std::vector<std::uint8_t>(text.begin(), text.end()), "notes.txt"),
                    Contains("notes.txt") && Contains("not a PNG, JPEG or WebP"));
  CHECK_THROWS_AS(decode_image({}, "empty"), Error);
  CHECK_THROWS_WITH(load_image(kPictures + "absent.png"), Contains("absent.png") && Contains("no such"));
  CHECK_THROWS_WITH(load_image(kPictures), Contains("images") && Contains("not a file"));
  CHECK_THROWS_AS(load_image("/dev/zero"), Error);
  auto lying = bytes_of(kPictures + "rgb.png");
  lying.resize(40);  // only the header
  CHECK_THROWS_WITH(decode_image(lying, "cut.png"), Contains("cut.png"));
}

TEST_CASE("check_image reads the header alone") {
  for (const char* name : {"rgb.png", "turned_6.jpg", "alpha.webp"}) CHECK_NOTHROW(check_image(kPictures + name));
  CHECK_THROWS_WITH(check_image(kPictures + "absent.png"), Contains("absent.png"));
  CHECK_THROWS_WITH(check_image(kPictures + "expected.json"), Contains("not a PNG, JPEG or WebP"));
  CHECK_THROWS_WITH(check_image(kPictures), Contains("not a file"));
  CHECK_THROWS_WITH(check_image(kPictures + "rgb.png", {.max_side = 11}), Contains("12 x 8"));
  const auto path = std::filesystem::temp_directory_path() / "agon-late-header.jpg";
  const std::string jpeg = read_file(kPictures + "gray.jpg");
  std::string segment = "\xFF\xE1\xFF\xFE";  // 65,534 bytes of metadata, twice, before the size
  segment.resize(2 + 65534, 'x');
  write_file_atomically(path, jpeg.substr(0, 2) + segment + segment + jpeg.substr(2));
  CHECK_NOTHROW(check_image(path));
  CHECK(load_image(path).width() == 12);
  std::filesystem::remove(path);
}

TEST_CASE("a cut file never decodes, wherever it is cut") {
  for (ImageFormat format : {ImageFormat::png, ImageFormat::jpeg, ImageFormat::webp}) {
    const auto whole = encode_image(noise(24, 24, 5), format);
    for (std::size_t size = 0; size < whole.size() - 12; size += 1 + size / 8)
      CHECK_THROWS_AS(decode_image({whole.data(), size}, "cut"), Error);
  }
}

TEST_CASE("damaged bytes give a picture or an Error, nothing else") {
  Rng rng(6);
  for (ImageFormat format : {ImageFormat::png, ImageFormat::jpeg, ImageFormat::webp}) {
    const auto whole = encode_image(gradient(24, 24), format);
    for (int round = 0; round < 200; ++round) {
      auto damaged = whole;
      for (int i = 0; i < 4; ++i)
        damaged[std::size_t(rng.between(0, int(whole.size()) - 1))] = static_cast<std::uint8_t>(rng.between(0, 255));
      try {
        const Image image = decode_image(damaged, "damaged", {.max_pixels = 1'000'000});
        CHECK_FALSE(image.empty());
      } catch (const Error& error) {
        CHECK_THAT(error.what(), Contains("damaged"));
      }
    }
  }
}

TEST_CASE("a JPEG that is damaged in the middle is refused, wherever the damage lies and however it looks") {
  const auto whole = encode_image(noise(160, 120, 7), ImageFormat::jpeg, 90);
  const auto scan_begin =
      std::size_t(std::search(whole.begin(), whole.end(), std::begin(kScan), std::end(kScan)) - whole.begin()) + 14;
  for (const int value : {0, 0x55, 0xD9})
    for (const double place : {0.2, 0.5, 0.8}) {
      CAPTURE(value, place);
      auto damaged = whole;
      const auto offset = std::ptrdiff_t(double(scan_begin) + place * double(whole.size() - scan_begin));
      std::fill_n(damaged.begin() + offset, 400, std::uint8_t(value));
      CHECK_THROWS_WITH(decode_image(damaged, "hole.jpg"), Contains("hole.jpg") && Contains("damaged"));
      auto shorter = whole;
      shorter.erase(shorter.begin() + offset, shorter.begin() + offset + 400);
      CHECK_THROWS_WITH(decode_image(shorter, "lost.jpg"), Contains("lost.jpg") && Contains("damaged"));
    }
}

TEST_CASE("a JPEG is not refused for what cameras put between its data and its end") {
  const auto whole = encode_image(noise(40, 30, 8), ImageFormat::jpeg);
  const Image plain = decode_image(whole, "plain.jpg");
  for (const std::vector<std::uint8_t>& padding :
       {std::vector<std::uint8_t>{1, 2, 3}, std::vector<std::uint8_t>(500, 0), std::vector<std::uint8_t>(9, 0xFF)}) {
    auto padded = whole;
    padded.insert(padded.end() - 2, padding.begin(), padding.end());
    CHECK(decode_image(padded, "padded.jpg") == plain);
  }
  auto leftover = whole;
  leftover.insert(leftover.end() - 2, whole.end() - 300, whole.end() - 100);
  CHECK_THROWS_WITH(decode_image(leftover, "left.jpg"), Contains("damaged"));
}

TEST_CASE("a progressive JPEG without its last scans is refused") {
  const std::string file = read_file(kPictures + "progressive.jpg");
  std::vector<std::size_t> scans;
  for (std::size_t at = file.find("\xFF\xDA"); at != file.npos; at = file.find("\xFF\xDA", at + 1)) scans.push_back(at);
  REQUIRE(scans.size() > 5);
  for (std::size_t kept = 1; kept < scans.size(); ++kept) {
    const std::string cut = file.substr(0, scans[kept]);
    const std::vector<std::uint8_t> open(cut.begin(), cut.end());
    CHECK_THROWS_WITH(decode_image(open, "cut.jpg"), Contains("cut off"));
    auto ended = open;
    ended.insert(ended.end(), {0xFF, 0xD9});
    CHECK_THROWS_WITH(decode_image(ended, "few.jpg"), Contains("scans of the progressive picture are missing"));
  }
}

TEST_CASE("a picture is known by its bytes, whatever its file is called") {
  const auto folder = std::filesystem::temp_directory_path() / "agon-image-names";
  std::filesystem::create_directories(folder);
  for (const char* name : {"turned_6.jpg", "turned_6.webp", "turned_6.png"}) {
    std::filesystem::copy_file(kPictures + name, folder / "a.gif", std::filesystem::copy_options::overwrite_existing);
    CHECK(load_image(folder / "a.gif").width() == 8);
  }
  std::filesystem::remove_all(folder);
}

TEST_CASE("a file of another kind is named in the error, with what to do") {
  using namespace std::string_literals;
  const auto told = [](const std::string& content, const std::string& what) {
    CAPTURE(content);
    const std::vector<std::uint8_t> file(content.begin(), content.end());
    CHECK_THROWS_WITH(decode_image(file, "x.png"), Contains("x.png: ") && Contains(what));
  };
  told("", "is empty");
  told("GIF89a\1\0\1\0"s, "a GIF, which is not read here. Convert it to PNG, JPEG or WebP");
  told("BM....", "a BMP");
  told("II*\0...."s, "a TIFF");
  told("MM\0*...."s, "a TIFF");
  told("\0\0\0\x1C"s + "ftypavif", "an AVIF");
  told("\0\0\0\x1C"s + "ftypheic", "a HEIC");
  told("\xFF\x0A..", "a JPEG XL");
  told("%PDF-1.7", "a PDF");
  told("<svg xmlns=''/>", "an SVG");
  told("\n<!DOCTYPE HTML><html>", "an HTML page");
  told("version https://git-lfs.github.com/spec/v1\n", "git lfs pull");
  told("plain text", "not a PNG, JPEG or WebP");
}

TEST_CASE("a WebP whose data ends in zeros is refused, and a flat one is read") {
  for (const int quality : {1, 50, 90}) {
    auto file = encode_image(noise(200, 150, 5), ImageFormat::webp, quality);
    CHECK_NOTHROW(decode_image(file, "w"));
    std::fill(file.begin() + std::ptrdiff_t(file.size() / 2), file.end(), std::uint8_t(0));
    CHECK_THROWS_WITH(decode_image(file, "w"), Contains("ends in zeros"));
    for (const int side : {16, 300, 1000})
      CHECK_NOTHROW(decode_image(
          encode_image(Image(side, side, std::vector<std::uint8_t>(std::size_t(side) * std::size_t(side) * 3, 255)),
                       ImageFormat::webp, quality),
          "flat"));
  }
}

TEST_CASE("a PNG of many packed profiles costs little") {
  std::vector<std::uint8_t> file = bytes_of(kPictures + "rgb.png");
  const auto packed = bytes_of(kPictures + "exif_raw_packed.png");
  constexpr std::uint8_t kName[] = {'z', 'T', 'X', 't'};
  const auto found = std::search(packed.begin(), packed.end(), std::begin(kName), std::end(kName));
  REQUIRE(found != packed.end());
  std::vector<std::uint8_t> chunk(found - 4, found + 8 + (found[-1] | found[-2] << 8));
  chunk[chunk.size() - 20] ^= 0xFF;  // damaged: no orientation is found
  std::vector<std::uint8_t> many;
  for (int i = 0; i < 20'000; ++i) many.insert(many.end(), chunk.begin(), chunk.end());
  file.insert(file.begin() + 33, many.begin(), many.end());
  CHECK(agon::test::cpu_seconds_of([&] { read_image_header(file); }) < 2);
}

TEST_CASE("EXIF of a WebP counts where its header names it, and a damaged one turns nothing") {
  auto file = bytes_of(kPictures + "turned_6.webp");
  CHECK(decode_image(file, "w").width() == 8);
  auto unnamed = file;
  unnamed[20] &= 0xF7;
  CHECK(decode_image(unnamed, "w").width() == 12);
  const std::string text(file.begin(), file.end());
  for (std::size_t at = text.find("EXIF") + 8; at < file.size(); ++at) {
    auto damaged = file;
    damaged[at] ^= 0xFF;
    CHECK_NOTHROW(decode_image(damaged, "w"));
  }
}

TEST_CASE("save_image chooses the format by the ending") {
  const auto folder = std::filesystem::temp_directory_path() / "agon-image-test";
  std::filesystem::create_directories(folder);
  const Image image = gradient(16, 12);
  for (const char* name : {"a.png", "a.jpg", "a.jpeg", "a.webp"}) {
    save_image(image, folder / name);
    CHECK(mean_difference(load_image(folder / name), image) < 4);
  }
  CHECK(bytes_of(folder / "a.webp")[8] == 'W');
  CHECK_THROWS_WITH(save_image(image, folder / "a.bmp"), Contains("a.bmp") && Contains(".png"));
  CHECK_THROWS_WITH(save_image(image, folder / "absent" / "a.png"), Contains("a.png"));
  CHECK_THROWS_AS(encode_image(Image(), ImageFormat::png), Error);
  std::filesystem::remove_all(folder);
}
