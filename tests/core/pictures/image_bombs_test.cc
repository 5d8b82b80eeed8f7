// Pictures that are made to cost time or memory: each is refused, or decoded within the limits.
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/pictures/image.h"
#include "core/pictures/image_header.h"
#include "core/rng.h"
#include "core/text.h"
#include "paths.h"

using namespace agon;
using Catch::Contains;

namespace {

const std::string kGoodPictures = agon::test::golden_path("images/");

std::span<const std::uint8_t> as_bytes(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::string big_endian(std::uint64_t value, int count) {
  std::string bytes;
  for (int i = count; i-- > 0;) bytes += static_cast<char>(value >> 8 * i);
  return bytes;
}

std::string little_endian(std::uint64_t value, int count) {
  std::string bytes = big_endian(value, count);
  std::reverse(bytes.begin(), bytes.end());
  return bytes;
}

std::string repeated(const std::string& text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

// ---- PNG

std::uint32_t crc_of(const std::string& bytes) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const char byte : bytes) {
    crc ^= static_cast<std::uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
  }
  return ~crc;
}

std::string chunk(const std::string& name, const std::string& content) {
  return big_endian(content.size(), 4) + name + content + big_endian(crc_of(name + content), 4);
}

// A zlib stream of `count` zeros in a thousandth of the bytes: matches of 258 bytes, 13 bits each.
std::string deflated_zeros(std::uint64_t count) {
  std::string bytes = "\x78\x9C";
  std::uint64_t buffer = 0;
  int held = 0;
  const auto put = [&](std::uint64_t bits, int number) {  // lowest bit first
    buffer |= bits << held;
    for (held += number; held >= 8; held -= 8, buffer >>= 8) bytes += static_cast<char>(buffer);
  };
  const auto put_code = [&](unsigned code, int number) {  // highest bit first
    for (int i = number; i-- > 0;) put(code >> i & 1, 1);
  };
  put(1, 1);
  put(1, 2);          // the last block, with fixed codes
  put_code(0x30, 8);  // literal 0
  std::uint64_t left = count - 1;
  for (; left >= 258; left -= 258) {
    put_code(0xC5, 8);  // length 258
    put_code(0, 5);     // distance 1
  }
  for (; left > 0; --left) put_code(0x30, 8);
  put_code(0, 7);  // the end
  if (held > 0) put(0, 8 - held);
  return bytes + big_endian((count % 65521) << 16 | 1, 4);
}

std::string ihdr(std::uint32_t width, std::uint32_t height, int depth, int color, int interlace = 0) {
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", big_endian(width, 4) + big_endian(height, 4) + char(depth) + char(color) +
                                                 std::string(2, '\0') + char(interlace));
}

std::string png_of_zeros(std::uint32_t width, std::uint32_t height, int depth, int color,
                         const std::string& extra = {}) {
  const std::uint64_t channels = color == 6 ? 4 : color == 2 ? 3 : color == 4 ? 2 : 1;
  const std::uint64_t row = 1 + (width * channels * static_cast<std::uint64_t>(depth) + 7) / 8;
  return ihdr(width, height, depth, color) + extra + chunk("IDAT", deflated_zeros(row * height)) + chunk("IEND", "");
}

// ---- JPEG

std::string segment(int marker, const std::string& content) {
  return std::string("\xFF") + char(marker) + big_endian(content.size() + 2, 2) + content;
}

// One Huffman table with one code, '0', for `symbol`.
std::string table(int which, int symbol) {
  return segment(0xC4, char(which) + std::string("\1") + std::string(15, '\0') + char(symbol));
}

struct Jpeg {
  int frame = 0xC0;  // its start-of-frame marker
  int width = 64, height = 64, components = 1, bits = 8, factors = 0x11;

  std::string start() const {
    std::string content = char(bits) + big_endian(std::uint64_t(height), 2) + big_endian(std::uint64_t(width), 2);
    content += char(components);
    for (int i = 1; i <= components; ++i) content += std::string() + char(i) + char(i == 1 ? factors : 0x11) + '\0';
    return "\xFF\xD8" + segment(0xDB, std::string(1, '\0') + std::string(64, '\1')) + segment(frame, content) +
           table(0x00, 0) + table(0x10, 0);
  }
  // codes: of one bit each that the scan holds.
  static std::string scan(const std::string& names, int first, int last, int bits_before = 0, std::size_t codes = 32) {
    std::string content(1, char(names.size()));
    for (const char name : names) content += std::string() + name + '\0';
    return segment(0xDA, content + char(first) + char(last) + char(bits_before)) + std::string((codes + 7) / 8, '\0');
  }
};

const std::string kEnd = "\xFF\xD9";

// ---- WebP

std::string riff(const std::string& chunks) { return "RIFF" + little_endian(4 + chunks.size(), 4) + "WEBP" + chunks; }

std::string webp_chunk(const std::string& name, const std::string& content) {
  return name + little_endian(content.size(), 4) + content + std::string(content.size() % 2, '\0');
}

std::string canvas(int flags, std::uint64_t width, std::uint64_t height) {
  return webp_chunk("VP8X",
                    char(flags) + std::string(3, '\0') + little_endian(width - 1, 3) + little_endian(height - 1, 3));
}

// The chunk of a plain WebP that holds the picture.
std::string picture_chunk(int width, int height) {
  const Image white(width, height, std::vector<std::uint8_t>(std::size_t(width) * std::size_t(height) * 3, 255));
  const auto file = encode_image(white, ImageFormat::webp);
  return std::string(file.begin() + 12, file.end());
}

// ---- measuring

// Seconds of `work`; a tenth of them under a sanitizer, which slows it down.
double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / (AGON_SANITIZED ? 10 : 1);
}

// How far the memory of this process rises while `work` runs, in KB; 0 if the kernel does not report it.
long peak_growth_kb(const std::function<void()>& work) {
  const auto status = [](const std::string& field) {
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);)
      if (line.starts_with(field)) return std::stol(line.substr(field.size() + 1));
    return 0l;
  };
  if (AGON_SANITIZED) return work(), 0;  // a sanitizer takes memory itself
  std::ofstream reset("/proc/self/clear_refs");
  if (!(reset << "5" << std::flush)) return work(), 0;
  const long before = status("VmRSS");
  work();
  return status("VmHWM") - before;
}

std::vector<int> decoders() {
  std::vector<int> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != name.npos) continue;
    std::string line;
    std::getline(std::ifstream(entry.path() / "stat"), line);
    const auto words = split(line, " ");
    if (words.size() > 3 && words[1] == "(agon-decode)" && words[3] == std::to_string(::getpid()))
      found.push_back(std::stoi(name));
  }
  return found;
}

}  // namespace

TEST_CASE("a JPEG of thousands of scans is refused before it is decoded") {
  const Jpeg progressive{.frame = 0xC2, .width = 4096, .height = 4096};
  const std::string scans = Jpeg::scan("\1", 0, 0) + repeated(Jpeg::scan("\1", 1, 63), 2999);
  const std::string file = progressive.start() + scans + kEnd;
  CHECK(seconds_of([&] {
          CHECK_THROWS_WITH(decode_image(as_bytes(file), "p.jpg"),
                            Contains("p.jpg") && Contains("3000 scans (at most 100)"));
        }) < 1);
  // Scans of a sequential JPEG, one per component; also after restarts, fill bytes, other segments and stray bytes.
  const Jpeg sequential{.width = 2048, .height = 2048, .components = 3};
  const std::string hidden = "\xFF\xD0\xFF\x01 stray" + std::string("\xFF\0", 2) + "\xFF" + segment(0xFE, "\xFF\xDA");
  const std::string many = sequential.start() + repeated(Jpeg::scan("\1", 0, 63) + hidden, 150) + kEnd;
  CHECK_THROWS_WITH(decode_image(as_bytes(many), "s.jpg"), Contains("150 scans"));
  // A few scans of many pixels.
  const Jpeg large{.frame = 0xC2, .width = 8192, .height = 8192};
  const std::string heavy = large.start() + Jpeg::scan("\1", 0, 0) + repeated(Jpeg::scan("\1", 1, 63), 60) + kEnd;
  CHECK_THROWS_WITH(decode_image(as_bytes(heavy), "h.jpg"), Contains("blocks") && Contains("61 scans"));
}

TEST_CASE("a JPEG of ordinary scans is decoded, progressive and sequential") {
  const Jpeg progressive{.frame = 0xC2, .width = 300, .height = 200};
  const std::size_t blocks = 38 * 25;
  const std::string file =
      progressive.start() + Jpeg::scan("\1", 0, 0, 0, blocks) + repeated(Jpeg::scan("\1", 1, 63, 0, blocks), 20) + kEnd;
  const Image image = decode_image(as_bytes(file), "p.jpg");
  CHECK(image.width() == 300);
  CHECK(image.rgb()[0] == 128);
  const Jpeg apart{.width = 300, .height = 200, .components = 3, .factors = 0x22};
  const std::size_t codes = 2 * 19 * 13;  // a first and a last code per block
  const std::string scans =
      Jpeg::scan("\1", 0, 63, 0, 2 * blocks) + Jpeg::scan("\2", 0, 63, 0, codes) + Jpeg::scan("\3", 0, 63, 0, codes);
  CHECK(decode_image(as_bytes(apart.start() + scans + kEnd), "s.jpg").height() == 200);
  CHECK(read_image_header(as_bytes(apart.start() + scans + kEnd))->scans == 3);
  const Jpeg cmyk{.width = 30, .height = 20, .components = 4};
  CHECK(decode_image(as_bytes(cmyk.start() + Jpeg::scan("\1\2\3\4", 0, 63, 0, 96) + kEnd), "c.jpg").width() == 30);
  // Metadata in thousands of segments is skipped.
  const std::string plain = apart.start();
  const std::string wordy =
      plain.substr(0, 2) + repeated(segment(0xE2, std::string(65'000, 'x')), 1000) + plain.substr(2);
  CHECK(seconds_of([&] { CHECK(decode_image(as_bytes(wordy + scans + kEnd), "m.jpg").width() == 300); }) < 1);
  const std::string endless = plain.substr(0, 2) + repeated(segment(0xFE, ""), 30'000) + plain.substr(2);
  CHECK_THROWS_WITH(decode_image(as_bytes(endless + scans + kEnd), "e.jpg"),
                    Contains("20000 segments") || Contains("not a PNG"));
}

TEST_CASE("kinds of JPEG that nobody here decodes are named") {
  const auto refused = [](const Jpeg& jpeg, const std::string& words) {
    const std::string file = jpeg.start() + Jpeg::scan("\1", 0, 63) + kEnd;
    CHECK_THROWS_WITH(decode_image(as_bytes(file), "k.jpg"), Contains("k.jpg") && Contains(words));
  };
  refused({.frame = 0xC3}, "lossless or hierarchical");
  refused({.frame = 0xC6}, "lossless or hierarchical");
  refused({.bits = 12}, "12 bits a sample");
  refused({.components = 2}, "2 colour components");
  refused({.factors = 0x51}, "sampling factors of 5 x 1");
  refused({.height = 0}, "64 x 0");
  const Jpeg one;
  const std::string start = one.start(), twice = start + start.substr(2) + Jpeg::scan("\1", 0, 63) + kEnd;
  CHECK_THROWS_WITH(decode_image(as_bytes(twice), "t.jpg"), Contains("several frames"));
}

TEST_CASE("a JPEG whose coefficients take too much memory is refused") {
  const Jpeg cmyk{.frame = 0xC2, .width = 8192, .height = 8192, .components = 4};
  CHECK_THROWS_WITH(decode_image(as_bytes(cmyk.start() + Jpeg::scan("\1\2\3\4", 0, 0) + kEnd), "c.jpg"),
                    Contains("704 MB (at most 512)"));
}

TEST_CASE("any EXIF gives a picture, turned where it says so") {
  const auto plain = encode_image(Image(32, 16, std::vector<std::uint8_t>(32 * 16 * 3, 9)), ImageFormat::jpeg);
  const std::string file(plain.begin(), plain.end());
  const auto turned = [&](const std::string& exif) {
    return decode_image(as_bytes(file.substr(0, 2) + segment(0xE1, exif) + file.substr(2)), "x.jpg").width();
  };
  const std::string six = std::string("Exif\0\0II*\0\10\0\0\0\1\0\22\1\3\0\1\0\0\0\6\0\0\0", 28);
  CHECK(turned(six) == 16);
  for (std::size_t size = 0; size < six.size(); ++size) CHECK(turned(six.substr(0, size)) == 32);
  Rng rng(3);
  for (int round = 0; round < 300; ++round) {
    std::string damaged = six;
    for (int i = 0; i < 3; ++i) damaged[std::size_t(rng.between(6, 27))] = static_cast<char>(rng.between(0, 255));
    CHECK_NOTHROW(turned(damaged));
  }
}

TEST_CASE("PNGs that inflate a thousandfold are bounded by what they take") {
  CHECK_THROWS_WITH(decode_image(as_bytes(png_of_zeros(10'000, 10'000, 16, 6)), "b.png"), Contains("10000 x 10000"));
  CHECK_THROWS_WITH(decode_image(as_bytes(ihdr(4, 4, 16, 3) + chunk("IEND", "")), "d.png"),
                    Contains("16 bits a sample"));
  CHECK_THROWS_WITH(decode_image(as_bytes(ihdr(4, 4, 8, 5) + chunk("IEND", "")), "d.png"), Contains("colour type 5"));
  // 16 pictures of 16 megapixels with 8 bytes per pixel: decoding one takes 48 MB here, checking all of them takes
  // none.
  const std::string deep = png_of_zeros(4000, 4000, 16, 6);
  CHECK(peak_growth_kb([&] {
          for (int i = 0; i < 16; ++i) verify_image(as_bytes(deep), "v.png");
        }) < 20'000);
  CHECK(peak_growth_kb([&] { CHECK(decode_image(as_bytes(deep), "d.png").rgb()[0] == 255); }) < 70'000);
}

TEST_CASE("chunks of a PNG that are not its picture are never inflated") {
  std::string text = std::string("k\0\0", 3) + deflated_zeros(7'900'000);
  const std::string bomb = repeated(chunk("zTXt", text), 900) + chunk("iCCP", text) +
                           chunk("iTXt", std::string("k\0\1\0\0\0", 6) + deflated_zeros(7'900'000));
  const std::string file = png_of_zeros(64, 64, 8, 2, bomb);
  CHECK(seconds_of([&] { CHECK(decode_image(as_bytes(file), "z.png").width() == 64); }) < 1);
  CHECK(seconds_of([&] {
          CHECK(decode_image(as_bytes(png_of_zeros(64, 64, 8, 2, repeated(chunk("abCd", ""), 500'000))), "c.png")
                    .width() == 64);
        }) < 2);
  // The first picture of an animation.
  const std::string moving = png_of_zeros(64, 64, 8, 6, chunk("acTL", std::string(8, '\1'))) + "behind the end";
  CHECK(decode_image(as_bytes(moving), "a.png").rgb()[0] == 255);
}

TEST_CASE("a WebP is as large as both of its headers say") {
  const auto file = [](int flags, std::uint64_t width, std::uint64_t height, const std::string& chunks) {
    return riff(canvas(flags, width, height) + chunks);
  };
  CHECK(decode_image(as_bytes(file(0, 40, 30, picture_chunk(40, 30))), "w.webp").width() == 40);
  CHECK_THROWS_WITH(decode_image(as_bytes(file(0, 40, 30, picture_chunk(400, 300))), "w.webp"),
                    Contains("header says 40 x 30 pixels, its picture 400 x 300"));
  CHECK_THROWS_WITH(decode_image(as_bytes(file(0, 1 << 24, 1 << 24, picture_chunk(40, 30))), "w.webp"),
                    Contains("16777216"));
  // The first frame of an animation, whose size is stored in three places.
  const auto frame = [](std::uint64_t width, std::uint64_t height, const std::string& picture) {
    return webp_chunk("ANMF", std::string(6, '\0') + little_endian(width - 1, 3) + little_endian(height - 1, 3) +
                                  std::string(4, '\0') + picture);
  };
  const std::string first = frame(40, 30, picture_chunk(40, 30));
  CHECK(decode_image(as_bytes(file(2, 400, 300, repeated(first, 20'000))), "a.webp").height() == 300);
  CHECK_THROWS_WITH(decode_image(as_bytes(file(2, 39, 30, first)), "a.webp"), Contains("first frame lies outside"));
  CHECK_THROWS_WITH(decode_image(as_bytes(file(2, 40, 30, frame(40, 30, picture_chunk(400, 300)))), "a.webp"),
                    Contains("header says 40 x 30 pixels, its picture 400 x 300"));
  CHECK_THROWS_AS(decode_image(as_bytes(file(2, 40, 30, frame(40, 30, first))), "a.webp"), Error);
}

TEST_CASE("CPU time is bounded, and the next picture has its own") {
  const std::string file = png_of_zeros(8000, 8000, 8, 2);
  CHECK_THROWS_WITH(decode_image(as_bytes(file), "slow.png", {.cpu_seconds = 0.02}),
                    Contains("slow.png") && Contains("more than 0.02 s of CPU time"));
  for (int i = 0; i < 5; ++i) CHECK(load_image(kGoodPictures + "rgb.png", {.cpu_seconds = 0.5}).width() == 12);
}

TEST_CASE("a decoder that somebody ended is replaced") {
  CHECK(load_image(kGoodPictures + "rgb.png").width() == 12);
  CHECK_FALSE(decoders().empty());
  for (const int process : decoders()) ::kill(process, SIGKILL);
  CHECK(load_image(kGoodPictures + "rgb.png").width() == 12);
}

TEST_CASE("many threads decode good and bad pictures at once") {
  const std::string good = read_file(kGoodPictures + "rgb.png");
  std::string bad = good;
  bad[bad.size() / 2] ^= 0x55;
  std::atomic<int> decoded = 0, refused = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 16; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 20; ++i) {
          try {
            decoded += decode_image(as_bytes(i % 4 == 3 ? bad : good), "t.png").width() == 12;
          } catch (const Error&) {
            ++refused;
          }
        }
      });
  }
  CHECK(decoded == 16 * 15);
  CHECK(refused == 16 * 5);
  CHECK(decoders().size() <= std::max(1u, std::thread::hardware_concurrency()));
}

TEST_CASE("a decoder opens nothing and is held to its memory") {
  CHECK(load_image(kGoodPictures + "rgb.png").width() == 12);
  REQUIRE_FALSE(decoders().empty());
  const std::string status = read_file("/proc/" + std::to_string(decoders().front()) + "/status");
  CHECK_THAT(status, Contains("Seccomp:\t2") && Contains("NoNewPrivs:\t1"));
}

TEST_CASE("headers of damaged files are read without harm") {
  Rng rng(9);
  const Jpeg jpeg{.frame = 0xC2, .width = 40, .height = 30, .components = 3};
  const std::vector<std::string> files = {
      jpeg.start() + Jpeg::scan("\1\2\3", 0, 0) + Jpeg::scan("\1", 1, 63) + segment(0xE1, "Exif") + kEnd,
      png_of_zeros(40, 30, 16, 6, chunk("tEXt", "x")),
      riff(canvas(0x10, 40, 30) + webp_chunk("ALPH", std::string(9, 'x')) + picture_chunk(40, 30)),
  };
  for (const std::string& file : files)
    for (int round = 0; round < 20'000; ++round) {
      std::string damaged = file.substr(0, std::size_t(rng.between(0, int(file.size()))));
      for (int i = 0; i < 3 && !damaged.empty(); ++i)
        damaged[std::size_t(rng.between(0, int(damaged.size()) - 1))] = static_cast<char>(rng.between(0, 255));
      const std::vector<std::uint8_t> exact(damaged.begin(), damaged.end());  // a sanitizer checks its bounds
      std::size_t kept = 0;
      if (const auto header = read_image_header(exact))
        for (const auto& part : header->parts) kept += part.size();
      CHECK(kept <= exact.size());
    }
}
