#include "agents/learn/credit/otsu.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace agon::agents {

// The sum of squares within the parts is smallest where the sum of squares between them, n1 n2 (mean1 - mean2)^2 / n,
// is largest.
std::optional<double> otsu_threshold(std::span<const double> values, OtsuThreshold kind) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  if (sorted.empty() || sorted.front() == sorted.back()) return {};
  const double size = static_cast<double>(sorted.size());
  const double mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / size;
  constexpr double kRounding = 1 + 1e-12;  // the first of equally good splits wins
  double best = -1, below = 0;             // `below`: sum of the lower part, from the mean
  std::size_t split = 0;
  for (std::size_t k = 1; k < sorted.size(); ++k) {
    below += sorted[k - 1] - mean;
    const double count = static_cast<double>(k), between = below * below / (count * (size - count));
    if (sorted[k - 1] == sorted[k] || between <= best * (best > 0 ? kRounding : 1)) continue;
    best = between;
    split = k;
  }
  const double low = sorted[split - 1], high = sorted[split];
  if (kind == OtsuThreshold::literal) return low;
  const double middle = low + (high - low) / 2;
  return middle > low ? middle : high;  // adjacent doubles have none between them
}

}  // namespace agon::agents
