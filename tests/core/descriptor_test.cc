#include "core/descriptor.h"

#include <fcntl.h>

#include <catch2/catch.hpp>
#include <utility>

using namespace agon;
using Catch::Matchers::Contains;

namespace {

Descriptor open_null() { return Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }
bool is_open(int descriptor) { return ::fcntl(descriptor, F_GETFD) >= 0; }

}  // namespace

TEST_CASE("descriptor: closed with its owner, and by reset", "[file]") {
  int first = -1, second = -1;
  {
    const Descriptor owned = open_null();
    Descriptor other = open_null();
    REQUIRE(owned);
    REQUIRE(other);
    first = owned.get();
    second = other.get();
    other.reset();
    CHECK_FALSE(other);
    CHECK(is_open(first));
    CHECK_FALSE(is_open(second));
  }
  CHECK_FALSE(is_open(first));
  CHECK_FALSE(Descriptor());
}

TEST_CASE("descriptor: moved, it has one owner, and released, it has none", "[file]") {
  Descriptor from = open_null();
  const int number = from.get();
  Descriptor to = std::move(from);
  CHECK(to.get() == number);
  CHECK(is_open(number));
  to = Descriptor();
  CHECK_FALSE(is_open(number));

  Descriptor given = open_null();
  const int released = given.release();
  CHECK_FALSE(given);
  CHECK(is_open(released));
  ::close(released);
}

TEST_CASE("checked: the result of a call, or what was tried and why it failed", "[file]") {
  CHECK(checked(3, "counting") == 3);
  CHECK_THROWS_WITH(checked(::open("/no/such/file", O_RDONLY), "opening it"), Contains("opening it: No such file"));
}
