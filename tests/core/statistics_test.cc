#include "core/statistics.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>

#include "core/json.h"
#include "core/rng.h"
#include "paths.h"

using agon::Json;
using agon::ReliabilityBin;
using agon::Rng;

namespace {

Json golden_cases() {
  std::ifstream file(agon::test::golden_path("statistics/curves.json"));
  return Json::parse(file).at("cases");
}

// Share of the k-subsets of n samples (the first `right` are right) that contain a right one, by counting all subsets.
double pass_at_k_counted(int n, int right, int k) {
  int subsets = 0, passed = 0;
  for (unsigned mask = 0; mask < (1u << n); ++mask) {
    if (__builtin_popcount(mask) != k) continue;
    ++subsets;
    passed += (mask & ((1u << right) - 1)) != 0;
  }
  return static_cast<double>(passed) / subsets;
}

}  // namespace

TEST_CASE("ROC, average precision and reliability equal scikit-learn") {
  for (const Json& golden : golden_cases()) {
    CAPTURE(golden.at("name"));
    const auto scores = golden.at("scores").get<std::vector<double>>();
    const auto labels = golden.at("labels").get<std::vector<int>>();
    REQUIRE(agon::average_precision(scores, labels) ==
            Approx(golden.at("average_precision").get<double>()).margin(1e-12));
    const auto near = [&](const char* key) { return Approx(golden.at(key).get<double>()).margin(1e-12); };
    CHECK(agon::brier_score(scores, labels) == near("brier"));
    CHECK(agon::expected_calibration_error(agon::reliability(scores, labels)) == near("ece"));
    CHECK(agon::expected_calibration_error(agon::adaptive_reliability(scores, labels)) == near("adaptive_ece"));
    if (golden.at("roc_auc").is_null()) {
      REQUIRE(std::isnan(agon::roc_auc(scores, labels)));
      REQUIRE(agon::roc_curve(scores, labels).empty());
      continue;
    }
    REQUIRE(agon::roc_auc(scores, labels) == Approx(golden.at("roc_auc").get<double>()).margin(1e-12));
    const auto curve = agon::roc_curve(scores, labels);
    REQUIRE(curve.size() == golden.at("roc").size());
    for (std::size_t i = 0; i < curve.size(); ++i) {
      REQUIRE(curve[i].x == Approx(golden.at("roc")[i][0].get<double>()).margin(1e-12));
      REQUIRE(curve[i].y == Approx(golden.at("roc")[i][1].get<double>()).margin(1e-12));
    }
    auto bins = agon::reliability(scores, labels);
    bins.erase(std::remove_if(bins.begin(), bins.end(), [](const ReliabilityBin& bin) { return bin.count == 0; }),
               bins.end());
    REQUIRE(bins.size() == golden.at("reliability").size());
    for (std::size_t i = 0; i < bins.size(); ++i) {
      REQUIRE(bins[i].mean_score == Approx(golden.at("reliability")[i][0].get<double>()).margin(1e-12));
      REQUIRE(bins[i].accuracy == Approx(golden.at("reliability")[i][1].get<double>()).margin(1e-12));
    }
  }
}

TEST_CASE("pass@k equals the share of subsets that hold a right sample") {
  for (int n = 1; n <= 9; ++n)
    for (int right = 0; right <= n; ++right)
      for (int k = 1; k <= n; ++k) {
        CAPTURE(n, right, k);
        REQUIRE(agon::pass_at_k(n, right, k) == Approx(pass_at_k_counted(n, right, k)).margin(1e-12));
      }
  REQUIRE(agon::pass_at_k(2000, 1, 1000) == Approx(0.5));  // the binomial coefficients would overflow
}

TEST_CASE("empty input gives NaN, never a number") {
  REQUIRE(std::isnan(agon::mean({})));
  REQUIRE(std::isnan(agon::roc_auc({}, {})));
  REQUIRE(std::isnan(agon::average_precision({}, {})));
  REQUIRE(agon::roc_curve({}, {}).empty());
  const auto bins = agon::reliability({}, {}, 4);
  REQUIRE(bins.size() == 4);
  REQUIRE((std::isnan(bins[2].accuracy) && std::isnan(bins[2].mean_score)));
  REQUIRE(std::isnan(agon::expected_calibration_error(bins)));
}

TEST_CASE("a score on a border belongs to the bin above, 1 to the last") {
  const std::vector<double> scores{0, 0.1, 0.3, 0.6, 0.7, 1};
  const std::vector<int> labels{0, 1, 0, 1, 1, 1};
  const auto bins = agon::reliability(scores, labels);
  for (std::size_t bin : {0u, 1u, 3u, 6u, 7u, 9u}) REQUIRE(bins[bin].count == 1);
}

TEST_CASE("the calibration error weighs bins by their counts") {
  const std::vector<double> scores{0.25, 0.25, 0.25, 0.75};
  const std::vector<int> labels{1, 0, 0, 1};
  const double error = agon::expected_calibration_error(agon::reliability(scores, labels, 2));
  REQUIRE(error == Approx((3 * std::abs(1.0 / 3 - 0.25) + 1 * 0.25) / 4));
}

TEST_CASE("logistic fits equal scikit-learn's balanced ones") {
  std::ifstream file(agon::test::golden_path("ranking/logistic.json"));
  const Json golden = Json::parse(file);
  REQUIRE(golden.at("fits").size() == 3);
  for (const Json& one : golden.at("fits")) {
    const std::vector<double> scores = one.at("scores");
    const std::vector<int> labels = one.at("labels");
    const agon::LogisticFit fit = agon::fit_logistic(scores, labels);
    CHECK(fit.slope == Approx(one["slope"].get<double>()).epsilon(1e-4));
    CHECK(fit.offset == Approx(one["offset"].get<double>()).epsilon(1e-4));
  }
  // Labels that a score separates perfectly still have a finite fit; a single label has none.
  const agon::LogisticFit parted = agon::fit_logistic(std::vector<double>{-1, -2, 1, 2}, std::vector<int>{0, 0, 1, 1});
  CHECK((std::isfinite(parted.slope) && parted.slope > 1));
  CHECK(agon::fit_logistic(std::vector<double>{1, 2}, std::vector<int>{1, 1}).slope == 1);
}
