// core/statistics.h - the statistics that agon reports. Pure functions; empty input gives NaN unless said otherwise.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace agon {

double mean(std::span<const double> values);

// Unbiased pass@k (Chen et al. 2021): 1 - C(n - c, k) / C(n, k) for n samples, c of them right. REQUIRES: 1 <= k <= n.
double pass_at_k(int samples, int right, int k);

// Area under the ROC curve; ties count half. NaN when one class is missing. Equal to sklearn.metrics.roc_auc_score.
double roc_auc(std::span<const double> scores, std::span<const int> labels);
// Mean squared difference of score and label. Equal to sklearn.metrics.brier_score_loss.
double brier_score(std::span<const double> scores, std::span<const int> labels);
// Equal to sklearn.metrics.average_precision_score.
double average_precision(std::span<const double> scores, std::span<const int> labels);

struct CurvePoint {
  double x = 0, y = 0;
};
// Empty when one class is missing.
std::vector<CurvePoint> roc_curve(std::span<const double> scores,
                                  std::span<const int> labels);  // x: false, y: true positive rate

struct ReliabilityBin {
  double low = 0, high = 0;  // score range [low, high); the last bin includes 1
  std::size_t count = 0;
  double mean_score = 0, accuracy = 0;
};
std::vector<ReliabilityBin> reliability(std::span<const double> scores, std::span<const int> labels, int bins = 10);
// The same with bins of equal counts: the scores in order (equal ones as given), cut as numpy.array_split cuts; low and
// high are the scores at a bin's ends.
std::vector<ReliabilityBin> adaptive_reliability(std::span<const double> scores, std::span<const int> labels,
                                                 int bins = 10);
double expected_calibration_error(std::span<const ReliabilityBin> bins);

// P(label 1 | score) = 1 / (1 + exp(-(slope score + offset))), fitted by maximum likelihood with equal total weight on
// both labels (Platt scaling at even odds). A penalty of 1e-4 slope^2 keeps the fit finite if a score separates the
// labels perfectly. Equal to sklearn's LogisticRegression(class_weight="balanced", C=5000). Without both labels:
// slope 1, offset 0.
struct LogisticFit {
  double slope = 1, offset = 0;
};
LogisticFit fit_logistic(std::span<const double> scores, std::span<const int> labels);

}  // namespace agon
