#include "core/error.h"

#include <catch2/catch.hpp>
#include <concepts>
#include <string>
#include <string_view>

using namespace agon;

TEST_CASE("an error's text is a format, also where nothing is put in") {
  CHECK(std::string(Error("a {{}}").what()) == "a {}");
  CHECK(std::string(Error("{} of {}", 1, "two").what()) == "1 of two");
  const std::string ready = "what {} says";
  CHECK(std::string(Error("{}", ready).what()) == ready);
}

TEST_CASE("a text that is ready is no format, and an error no text") {
  STATIC_REQUIRE(std::copy_constructible<Error>);
  STATIC_REQUIRE_FALSE(std::constructible_from<Error, std::string>);
  STATIC_REQUIRE_FALSE(std::constructible_from<Error, const std::string&>);
  STATIC_REQUIRE_FALSE(std::constructible_from<Error, std::string_view>);
  STATIC_REQUIRE_FALSE(std::constructible_from<Error, const char*>);
  STATIC_REQUIRE_FALSE(std::convertible_to<std::string, Error>);
}
