#include "env/grading/box.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace agon::env {
namespace {

double intersection(const Box& a, const Box& b) {
  const double width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
  const double height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1);
  return width > 0 && height > 0 ? width * height : 0;
}

Box hull(const Box& a, const Box& b) {
  return {std::min(a.x1, b.x1), std::min(a.y1, b.y1), std::max(a.x2, b.x2), std::max(a.y2, b.y2)};
}

double squared(double value) { return value * value; }

}  // namespace

double iou(const Box& a, const Box& b) {
  const double common = intersection(a, b), all = a.area() + b.area() - common;
  return all > 0 ? common / all : 0;
}

double giou(const Box& a, const Box& b) {
  const double enclosing = hull(a, b).area();
  const double all = a.area() + b.area() - intersection(a, b);
  return enclosing > 0 ? iou(a, b) - (enclosing - all) / enclosing : 0;
}

double ciou(const Box& a, const Box& b) {
  const Box around = hull(a, b);
  const double diagonal = squared(around.x2 - around.x1) + squared(around.y2 - around.y1);
  if (diagonal == 0) return 0;
  const double centres = (squared(a.x1 + a.x2 - b.x1 - b.x2) + squared(a.y1 + a.y2 - b.y1 - b.y2)) / 4;
  const double angle = std::atan2(a.x2 - a.x1, a.y2 - a.y1) - std::atan2(b.x2 - b.x1, b.y2 - b.y1);
  const double aspect = 4 / squared(std::numbers::pi) * squared(angle);
  const double overlap = iou(a, b);
  const double trade_off = aspect > 0 ? aspect / (1 - overlap + aspect) : 0;
  return overlap - centres / diagonal - trade_off * aspect;
}

bool contains(const Box& box, double x, double y) { return box.x1 <= x && x <= box.x2 && box.y1 <= y && y <= box.y2; }

std::vector<std::size_t> largest_cluster(const std::vector<Box>& boxes, const std::vector<double>& weights,
                                         double threshold) {
  struct Cluster {
    Box mean;
    double weight;
    std::vector<std::size_t> members;
  };
  std::vector<Cluster> clusters;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const Box& box = boxes[i];
    const double weight = weights.empty() ? 1 : weights[i];
    const auto joined = std::find_if(clusters.begin(), clusters.end(),
                                     [&](const Cluster& cluster) { return iou(cluster.mean, box) > threshold; });
    if (joined == clusters.end()) {
      clusters.push_back({box, weight, {i}});
      continue;
    }
    joined->members.push_back(i);
    joined->weight += weight;
    const double share = 1 / static_cast<double>(joined->members.size());
    Box& mean = joined->mean;
    mean = {mean.x1 + (box.x1 - mean.x1) * share, mean.y1 + (box.y1 - mean.y1) * share,
            mean.x2 + (box.x2 - mean.x2) * share, mean.y2 + (box.y2 - mean.y2) * share};
  }
  const auto largest = std::max_element(clusters.begin(), clusters.end(),
                                        [](const Cluster& a, const Cluster& b) { return a.weight < b.weight; });
  return largest == clusters.end() ? std::vector<std::size_t>{} : largest->members;
}

}  // namespace agon::env
