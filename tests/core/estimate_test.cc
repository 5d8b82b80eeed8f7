#include "core/estimate.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace agon;

TEST_CASE("an estimate stands in JSON as its value, its interval and its tasks, if it is defined") {
  const double infinite = HUGE_VAL, nan = std::nan("");
  CHECK(number_or_null(0.5) == 0.5);
  CHECK((number_or_null(nan).is_null() && number_or_null(infinite).is_null()));
  CHECK(interval_json({0.25, nan}) == Json{0.25, nullptr});
  Json figures{{"ci", Json::object()}, {"n", Json::object()}};
  add_interval(figures, "whole", {0.5, {0.25, 0.75}, 3});
  add_interval(figures, "undefined", {});
  add_interval(figures, "uncounted", {0.5, {nan, nan}, 0});
  CHECK(figures.dump() == R"({"ci":{"whole":[0.25,0.75],"uncounted":[null,null]},"n":{"whole":3}})");
}

TEST_CASE("tables show figures with three digits, and a dash for what is undefined") {
  CHECK((figure_text(0.12349) == "0.123" && figure_text(std::nan("")) == "-"));
  CHECK(interval_text({0.25, 1}) == "[0.250, 1.000]");
  CHECK(interval_text(Estimate().interval) == "[-, -]");
}
