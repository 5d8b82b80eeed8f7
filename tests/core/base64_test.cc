#include "core/base64.h"

#include <catch2/catch.hpp>

#include "core/rng.h"

using namespace agon;

namespace {

std::vector<std::uint8_t> bytes_in(std::string_view text) { return {text.begin(), text.end()}; }

}  // namespace

TEST_CASE("base64: the vectors of RFC 4648") {
  const std::vector<std::pair<std::string, std::string>> vectors = {{"", ""},
                                                                    {"f", "Zg=="},
                                                                    {"fo", "Zm8="},
                                                                    {"foo", "Zm9v"},
                                                                    {"foob", "Zm9vYg=="},
                                                                    {"fooba", "Zm9vYmE="},
                                                                    {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, encoded] : vectors) {
    CHECK(base64(bytes_in(plain)) == encoded);
    CHECK(bytes_of_base64(encoded) == bytes_in(plain));
  }
}

TEST_CASE("base64: any bytes come back") {
  Rng rng = Rng::derive(1, "base64");
  for (std::size_t size = 0; size < 200; ++size) {
    std::vector<std::uint8_t> bytes;
    for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<std::uint8_t>(rng()));
    REQUIRE(bytes_of_base64(base64(bytes)) == bytes);
  }
}

TEST_CASE("base64: what is not base64 is nothing") {
  for (const char* text : {"Zg", "Zg=", "Z===", "====", "Zm9v\n", "Zm 9", "Zg==Zg==", "Zm-_", "Zm9\xC3"})
    CHECK(!bytes_of_base64(text));
}
