#include "core/intervals.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <vector>

#include "core/json.h"
#include "core/rng.h"
#include "paths.h"

using agon::Interval;
using agon::Json;
using agon::TaskShare;

namespace {

Json golden_of(const char* part) {
  std::ifstream file(agon::test::golden_path("intervals/intervals.json"));
  return Json::parse(file).at(part);
}

void check_equal(const Interval& interval, const Json& golden) {
  CHECK(interval.low == Approx(golden.at(0).get<double>()).margin(1e-6));
  CHECK(interval.high == Approx(golden.at(1).get<double>()).margin(1e-6));
}

std::vector<TaskShare> shares_of(const Json& parts, const Json& draws) {
  std::vector<TaskShare> shares;
  for (std::size_t i = 0; i < parts.size(); ++i) shares.push_back({parts[i], 1, draws[i]});
  return shares;
}

// The share of simulations whose interval contains `rate`. Each task's own rate is `rate` plus or minus `spread`.
double coverage(int tasks, int samples, double rate, double spread) {
  constexpr int kRounds = 2000;
  agon::Rng rng = agon::Rng::derive(7, "coverage");
  int covered = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<TaskShare> shares;
    for (int task = 0; task < tasks; ++task) {
      const double own = rate + (rng.chance(0.5) ? spread : -spread);
      double right = 0;
      for (int sample = 0; sample < samples; ++sample) right += rng.chance(own);
      shares.push_back({right / samples, 1, static_cast<double>(samples)});
    }
    const Interval interval = agon::share_interval(shares);
    covered += interval.low <= rate && rate <= interval.high;
  }
  return static_cast<double>(covered) / kRounds;
}

}  // namespace

TEST_CASE("intervals: Wilson's equal statsmodels'") {
  for (const Json& golden : golden_of("wilson")) {
    CAPTURE(golden);
    check_equal(agon::wilson_interval(golden.at("part"), golden.at("whole")), golden.at("interval"));
  }
  CHECK(std::isnan(agon::wilson_interval(0, 0).low));
}

TEST_CASE("intervals: a share of few tasks is never known for sure") {
  const std::vector<TaskShare> both(2, {1}), none(10, {0});
  CHECK(agon::share_interval(both).low == Approx(0.3424).margin(1e-4));
  CHECK(agon::share_interval(both).high == 1);
  CHECK(agon::share_interval(none).low == 0);
  CHECK(agon::share_interval(none).high == Approx(0.2775).margin(1e-4));
  CHECK(std::isnan(agon::share_interval({}).low));
  const std::vector<TaskShare> sampled(2, {1, 1, 8});  // 16 samples of two tasks
  CHECK(agon::share_interval(sampled).low == agon::share_interval(both).low);
}

TEST_CASE("intervals: of clusters equal the formulas written a second time") {
  for (const Json& golden : golden_of("clustered")) {
    CAPTURE(golden);
    std::vector<TaskShare> shares;
    for (std::size_t i = 0; i < golden.at("part").size(); ++i)
      shares.push_back({golden["part"][i], golden["whole"][i], golden["draws"][i]});
    check_equal(agon::share_interval(shares), golden.at("interval"));
  }
}

TEST_CASE("intervals: of paired differences equal the formulas, and Newcombe's published example") {
  for (const Json& golden : golden_of("paired")) {
    CAPTURE(golden.at("name"));
    const auto a = shares_of(golden["minuend"], golden["draws"]), b = shares_of(golden["subtrahend"], golden["draws"]);
    const Interval interval = agon::paired_difference_interval(a, b);
    check_equal(interval, golden.at("interval"));
    CHECK(interval.low < interval.high);
  }
  const Json example = golden_of("paired").at(0);  // 36, 12, 2, 0: 0.0569 to 0.3404 (1998, Table III)
  CHECK(example["interval"][0].get<double>() == Approx(0.0569).margin(1e-4));
  CHECK(example["interval"][1].get<double>() == Approx(0.3404).margin(1e-4));
}

TEST_CASE("intervals: hold the rate about 95 times of 100, whatever tasks have in common") {
  for (const int tasks : {5, 20, 100})
    for (const int samples : {1, 8})
      for (const double spread : {0.0, 0.3}) {
        CAPTURE(tasks, samples, spread);
        const double covered = coverage(tasks, samples, 0.6, spread);
        CHECK(covered >= 0.91);
        CHECK(covered <= 1);
      }
  CHECK(coverage(100, 8, 0.6, 0) <= 0.98);  // and not by being too wide
  CHECK(coverage(100, 8, 0.6, 0.3) <= 0.98);
}

TEST_CASE("a 95 % interval of a mean holds the true mean about 95 times in 100") {
  agon::Rng rng(3);
  int held = 0;
  constexpr int kRounds = 400;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> values(80);
    for (double& value : values) value = rng.normal();
    const Interval interval = agon::bootstrap_interval(
        values.size(),
        [&](std::span<const std::size_t> indices) {
          double sum = 0;
          for (std::size_t index : indices) sum += values[index];
          return sum / static_cast<double>(indices.size());
        },
        static_cast<std::uint64_t>(round), 300);
    held += interval.low <= 0 && 0 <= interval.high;
  }
  REQUIRE(held > kRounds * 90 / 100);
  REQUIRE(held < kRounds * 99 / 100);
}

TEST_CASE("the bootstrap depends on its seed alone and leaves undefined resamples out") {
  const std::vector<double> values{1, 2, 4, 8, 16};
  const auto total = [&](std::span<const std::size_t> indices) {
    double sum = 0;
    for (std::size_t index : indices) sum += values[index];
    return sum;
  };
  const Interval a = agon::bootstrap_interval(5, total, 1), b = agon::bootstrap_interval(5, total, 1);
  const Interval other = agon::bootstrap_interval(5, total, 2);
  REQUIRE((a.low == b.low && a.high == b.high));
  REQUIRE((a.low != other.low || a.high != other.high));
  const Interval defined = agon::bootstrap_interval(
      5, [](std::span<const std::size_t> indices) { return indices[0] == 0 ? std::nan("") : 3.0; }, 1);
  REQUIRE((defined.low == 3 && defined.high == 3));
  const Interval never = agon::bootstrap_interval(
      5, [](std::span<const std::size_t>) { return std::nan(""); }, 1);
  REQUIRE((std::isnan(never.low) && std::isnan(never.high)));
  const Interval of_none = agon::bootstrap_interval(
      0, [](std::span<const std::size_t>) { return 1.0; }, 1);
  REQUIRE(std::isnan(of_none.low));
}

TEST_CASE("intervals: a bootstrap that never differs knows nothing") {
  CHECK(agon::bootstrap_or_wilson({0.4, 0.6}, 0.5, 10).low == 0.4);
  // Resamples of two tasks say little about a third.
  const agon::Interval few = agon::bootstrap_or_wilson({0.4, 0.5}, 0.45, 2);
  CHECK(few.low == Approx(agon::wilson_interval(0.9, 2).low));
  CHECK(few.high == Approx(agon::wilson_interval(0.9, 2).high));
  CHECK(agon::bootstrap_or_wilson({0, 0.99}, 0.45, 9).low == 0);
  CHECK(agon::bootstrap_or_wilson({1, 1}, 1, 2).low == Approx(0.3424).margin(1e-4));
  CHECK(std::isnan(agon::bootstrap_or_wilson({1, 1}, std::nan(""), 2).low));
}
