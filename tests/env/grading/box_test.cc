#include "env/grading/box.h"
#include "env/grading/box_text.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "core/json.h"
#include "core/rng.h"
#include "core/text.h"
#include "paths.h"

using namespace agon;
using namespace agon::env;

TEST_CASE("a box is the last four numbers in brackets, or two corners") {
  CHECK(parse_box("[1,2,3,4]") == Box{1, 2, 3, 4});
  CHECK(parse_box("the box is [ 1.5 , -2,\n3e1,4 ] here") == Box{1.5, -2, 30, 4});
  CHECK(parse_box("[3,4,1,2]") == Box{1, 2, 3, 4});
  CHECK(parse_box("[[1,2,3,4]]") == Box{1, 2, 3, 4});
  CHECK(parse_box("[1,2] then [5,6,7,8] and [1,2,3,4]") == Box{1, 2, 3, 4});
  CHECK(parse_box("(1,2),(3,4)") == Box{1, 2, 3, 4});
  CHECK(parse_box("(1,2),(3,4) and (5,6),(7,8)") == Box{5, 6, 7, 8});
  CHECK(parse_box("[1,2,3,4], then the point (5,6)") == Box{1, 2, 3, 4});
  CHECK(parse_box("1,2,3,4") == Box{1, 2, 3, 4});
  CHECK(parse_box("[1 2 3 4]") == Box{1, 2, 3, 4});
  CHECK(parse_place("[1,2,3,4], then the point (5,6)") == Box{5, 6, 5, 6});
  CHECK(parse_place("x: 1, y: 2; later x: 3, y: 4") == Box{3, 4, 3, 4});
  for (const char* text : {"", "[", "[1,2,3]", "[1,2,3,4,5]", "[1,2,3,4", "1,2,3,4,5", "[a,b,c,d]", "[1,2,nan,4]",
                           "[1,2,inf,4]", "[1,2,1e999,4]", "[1,2,1e10,4]", "see 1 2 3 4", "[1,,2,3]", "(1,2)",
                           "(1,2),(3)", "x1=1, y1=2, x2=3", "<box>1 2 3</box>", "{\"x\": 1, \"y\": 2}"}) {
    INFO(text);
    CHECK_FALSE(parse_box(text));
  }
}

TEST_CASE("a written box reads back") {
  CHECK(format_box({12.4, 39.5, 310, 200}) == "[12,40,310,200]");
  Rng rng(1);
  for (int i = 0; i < 200; ++i) {
    const double x = rng.between(-2000, 2000), y = rng.between(-2000, 2000);
    const Box box{x, y, x + rng.between(0, 1000), y + rng.between(0, 1000)};
    CHECK(parse_box(format_box(box)) == box);
  }
}

TEST_CASE("overlaps equal torchvision's") {
  const Json golden = Json::parse(read_file(agon::test::golden_path("graders/boxes.json")));
  const auto box_of = [](const Json& corners) { return Box{corners[0], corners[1], corners[2], corners[3]}; };
  for (const Json& pair : golden["pairs"]) {
    INFO(pair.dump());
    const Box a = box_of(pair["a"]), b = box_of(pair["b"]);
    CHECK(iou(a, b) == Approx(pair["iou"].get<double>()).margin(1e-9));
    CHECK(giou(a, b) == Approx(pair["giou"].get<double>()).margin(1e-9));
    CHECK(ciou(a, b) == Approx(pair["ciou"].get<double>()).margin(1e-6));  // torchvision adds 1e-7 to denominators
    CHECK(iou(a, b) == iou(b, a));
  }
}

TEST_CASE("boxes without area, and the largest coordinates, give finite overlaps") {
  const Box point{5, 5, 5, 5}, line{0, 5, 10, 5}, box{0, 0, 10, 10};
  const Box huge{-kLargestCoordinate, -kLargestCoordinate, kLargestCoordinate, kLargestCoordinate};
  for (const Box& a : {point, line, box, huge})
    for (const Box& b : {point, line, box, huge})
      for (double value : {iou(a, b), giou(a, b), ciou(a, b)}) {
        CHECK(std::isfinite(value));
        CHECK(value <= 1);
      }
  CHECK(iou(point, point) == 0);
  CHECK(iou(point, box) == 0);
  CHECK(iou(huge, huge) == 1);
}

TEST_CASE("a box contains its border") {
  const Box box{1, 2, 3, 4};
  CHECK(contains(box, 1, 2));
  CHECK(contains(box, 3, 4));
  CHECK(contains(box, 2, 3));
  CHECK_FALSE(contains(box, 0.999, 3));
  CHECK_FALSE(contains(box, 2, 4.001));
}

TEST_CASE("the largest cluster wins, the first among equals") {
  const Box a{0, 0, 10, 10}, near_a{1, 0, 11, 10}, b{50, 50, 60, 60}, near_b{50, 51, 60, 61};
  CHECK(largest_cluster({}).empty());
  CHECK(largest_cluster({a}) == std::vector<std::size_t>{0});
  CHECK(largest_cluster({a, b, near_b}) == std::vector<std::size_t>{1, 2});
  CHECK(largest_cluster({b, a, near_a, near_b}) == std::vector<std::size_t>{0, 3});
  CHECK(largest_cluster({a, b, near_b}, {3, 1, 1}) == std::vector<std::size_t>{0});
  CHECK(largest_cluster({a, near_a}, {}, 0.95) == std::vector<std::size_t>{0});
  // The mean moves: the third box overlaps the first by less than half, but the mean of the first two by more.
  const Box one{0, 0, 10, 10}, two{3, 0, 13, 10}, three{4, 0, 14, 10};
  REQUIRE(iou(one, three) < 0.5);
  CHECK(largest_cluster({one, two, three}) == std::vector<std::size_t>{0, 1, 2});
}
