#include "sandbox/frame.h"

#include <catch2/catch.hpp>

#include "core/rng.h"
#include "sandbox/message.h"

using namespace agon;
using namespace agon::sandbox;

TEST_CASE("frames come out whole, however their bytes come in") {
  Rng random(7);
  std::string stream;
  std::vector<std::string> sent;
  for (int i = 0; i < 200; ++i) {
    sent.emplace_back(static_cast<std::size_t>(random.between(0, 39)), static_cast<char>('a' + i % 26));
    stream += make_frame(sent.back());
  }
  FrameReader reader(64);
  std::vector<std::string> got;
  for (std::size_t at = 0; at < stream.size();) {
    const std::size_t size = std::min(static_cast<std::size_t>(random.between(1, 9)), stream.size() - at);
    reader.feed(std::string_view(stream).substr(at, size));
    at += size;
    while (auto payload = reader.next()) got.push_back(*payload);
  }
  CHECK(got == sent);
  CHECK_FALSE(reader.broken());
  CHECK_FALSE(reader.holds_some());
}

TEST_CASE("a length past the limit breaks the reader for good, and nothing of it is kept") {
  FrameReader reader(16);
  reader.feed(make_frame("fine"));
  reader.feed(std::string("\xff\xff\xff\xff", 4));
  CHECK(reader.next() == "fine");
  CHECK_FALSE(reader.next());
  CHECK(reader.broken());
  reader.feed(make_frame("later"));
  CHECK_FALSE(reader.next());
  CHECK_FALSE(reader.holds_some());
}

TEST_CASE("any bytes are survived") {
  Rng random(11);
  for (int round = 0; round < 200; ++round) {
    FrameReader reader(256);
    for (int i = 0; i < 50; ++i) {
      std::string bytes(static_cast<std::size_t>(random.between(0, 29)), '\0');
      for (char& byte : bytes) byte = static_cast<char>(random.between(0, round % 2 ? 255 : 2));
      reader.feed(bytes);
      while (const auto payload = reader.next()) CHECK(payload->size() <= 256);
    }
  }
}

TEST_CASE("a message that is nested without end is none, and costs no stack") {
  const auto nested = [](std::size_t depth) {  // {"a": [[[...]]]}
    return "\xa1\x61"
           "a" +
           std::string(depth, '\x81') + "\x80";
  };
  CHECK(read_message(nested(4)));
  CHECK_FALSE(read_message(nested(100)));
  CHECK_FALSE(read_message(nested(10'000'000)));
  CHECK_FALSE(read_message(std::string(10'000'000, '\xa1')));
}
