#include "core/statistics.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

namespace agon {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Right and wrong items with a score of at least `threshold`, one entry per distinct score, highest first.
struct Cut {
  double right = 0, wrong = 0;
};
std::vector<Cut> cuts(std::span<const double> scores, std::span<const int> labels) {
  assert(scores.size() == labels.size());
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto higher = [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; };
  if (!std::is_sorted(order.begin(), order.end(), higher)) std::sort(order.begin(), order.end(), higher);
  std::vector<Cut> all;
  Cut now;
  for (std::size_t i = 0; i < order.size(); ++i) {
    (labels[order[i]] != 0 ? now.right : now.wrong) += 1;
    if (i + 1 == order.size() || scores[order[i + 1]] != scores[order[i]]) all.push_back(now);
  }
  return all;
}

bool one_class(const std::vector<Cut>& all) { return all.empty() || all.back().right == 0 || all.back().wrong == 0; }

}  // namespace

double mean(std::span<const double> values) {
  if (values.empty()) return kNaN;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double pass_at_k(int samples, int right, int k) {
  assert(1 <= k && k <= samples && 0 <= right && right <= samples);
  if (samples - right < k) return 1;
  double all_wrong = 1;  // C(n - c, k) / C(n, k), factor by factor
  for (int i = samples - right + 1; i <= samples; ++i) all_wrong *= 1 - static_cast<double>(k) / i;
  return 1 - all_wrong;
}

double roc_auc(std::span<const double> scores, std::span<const int> labels) {
  const std::vector<Cut> all = cuts(scores, labels);
  if (one_class(all)) return kNaN;
  double area = 0;  // trapezoids
  Cut before;
  for (const Cut& cut : all) {
    area += (cut.wrong - before.wrong) * (cut.right + before.right) / 2;
    before = cut;
  }
  return area / (all.back().right * all.back().wrong);
}

double average_precision(std::span<const double> scores, std::span<const int> labels) {
  const std::vector<Cut> all = cuts(scores, labels);
  if (all.empty()) return kNaN;
  if (all.back().right == 0) return 0;
  double sum = 0, right_before = 0;
  for (const Cut& cut : all) {
    sum += (cut.right - right_before) * cut.right / (cut.right + cut.wrong);
    right_before = cut.right;
  }
  return sum / all.back().right;
}

double brier_score(std::span<const double> scores, std::span<const int> labels) {
  assert(scores.size() == labels.size());
  if (scores.empty()) return kNaN;
  double sum = 0;
  for (std::size_t i = 0; i < scores.size(); ++i)
    sum += (scores[i] - (labels[i] != 0)) * (scores[i] - (labels[i] != 0));
  return sum / static_cast<double>(scores.size());
}

std::vector<CurvePoint> roc_curve(std::span<const double> scores, std::span<const int> labels) {
  const std::vector<Cut> all = cuts(scores, labels);
  if (one_class(all)) return {};
  std::vector<CurvePoint> curve{{0, 0}};
  for (const Cut& cut : all) curve.push_back({cut.wrong / all.back().wrong, cut.right / all.back().right});
  return curve;
}

std::vector<ReliabilityBin> reliability(std::span<const double> scores, std::span<const int> labels, int bins) {
  assert(scores.size() == labels.size() && bins > 0);
  std::vector<ReliabilityBin> all(static_cast<std::size_t>(bins));
  for (int i = 0; i < bins; ++i)
    all[static_cast<std::size_t>(i)] = {static_cast<double>(i) / bins, static_cast<double>(i + 1) / bins, 0, 0, 0};
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const auto after = std::upper_bound(all.begin() + 1, all.end(), scores[i],
                                        [](double score, const ReliabilityBin& bin) { return score < bin.low; });
    ReliabilityBin& bin = *(after - 1);
    ++bin.count;
    bin.mean_score += scores[i];
    bin.accuracy += labels[i] != 0;
  }
  for (ReliabilityBin& bin : all) {  // sums become means
    bin.mean_score = bin.count > 0 ? bin.mean_score / static_cast<double>(bin.count) : kNaN;
    bin.accuracy = bin.count > 0 ? bin.accuracy / static_cast<double>(bin.count) : kNaN;
  }
  return all;
}

std::vector<ReliabilityBin> adaptive_reliability(std::span<const double> scores, std::span<const int> labels,
                                                 int bins) {
  assert(scores.size() == labels.size() && bins > 0);
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return scores[a] < scores[b]; });
  const auto count = static_cast<std::size_t>(bins), base = order.size() / count, larger = order.size() % count;
  std::vector<ReliabilityBin> all;
  for (std::size_t bin = 0, begin = 0; bin < count; ++bin) {
    const std::size_t size = base + (bin < larger);
    if (size == 0) break;
    const std::span<const std::size_t> inside(order.data() + begin, size);
    ReliabilityBin filled{scores[inside.front()], scores[inside.back()], size, 0, 0};
    for (const std::size_t i : inside) {
      filled.mean_score += scores[i] / static_cast<double>(size);
      filled.accuracy += (labels[i] != 0) / static_cast<double>(size);
    }
    all.push_back(filled);
    begin += size;
  }
  return all;
}

double expected_calibration_error(std::span<const ReliabilityBin> bins) {
  double sum = 0, count = 0;
  for (const ReliabilityBin& bin : bins) {
    if (bin.count == 0) continue;
    sum += static_cast<double>(bin.count) * std::abs(bin.accuracy - bin.mean_score);
    count += static_cast<double>(bin.count);
  }
  return count > 0 ? sum / count : kNaN;
}

LogisticFit fit_logistic(std::span<const double> scores, std::span<const int> labels) {
  const auto ones = static_cast<double>(std::count(labels.begin(), labels.end(), 1));
  const auto all = static_cast<double>(labels.size());
  if (ones == 0 || ones == all) return {};
  constexpr double kRidge = 1e-4;
  LogisticFit fit{0, 0};
  for (int iteration = 0; iteration < 100; ++iteration) {  // Newton's method
    double slope_gradient = kRidge * 2 * fit.slope, offset_gradient = 0;
    double slope_curve = kRidge * 2, cross_curve = 0, offset_curve = 1e-12;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const double weight = all / (2 * (labels[i] == 1 ? ones : all - ones));
      const double probability = 1 / (1 + std::exp(-(fit.slope * scores[i] + fit.offset)));
      const double error = weight * (probability - labels[i]), curve = weight * probability * (1 - probability);
      slope_gradient += error * scores[i];
      offset_gradient += error;
      slope_curve += curve * scores[i] * scores[i];
      cross_curve += curve * scores[i];
      offset_curve += curve;
    }
    const double determinant = slope_curve * offset_curve - cross_curve * cross_curve;
    const double slope_step = (offset_curve * slope_gradient - cross_curve * offset_gradient) / determinant;
    const double offset_step = (slope_curve * offset_gradient - cross_curve * slope_gradient) / determinant;
    fit.slope -= slope_step;
    fit.offset -= offset_step;
    if (std::abs(slope_step) + std::abs(offset_step) < 1e-10) break;
  }
  return fit;
}

}  // namespace agon
