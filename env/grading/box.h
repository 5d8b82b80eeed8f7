// env/grading/box.h - boxes and their overlaps (IoU, GIoU, CIoU). env/grading/box_text.h reads and writes them.
#pragma once

#include <cstddef>
#include <vector>

namespace agon::env {

// Corners; x1 <= x2 and y1 <= y2 for a valid box. Units are the caller's (agon's suites: 0-1000 of the picture's
// sides).
struct Box {
  double x1 = 0, y1 = 0, x2 = 0, y2 = 0;
  bool operator==(const Box&) const = default;
  double area() const { return (x2 - x1) * (y2 - y1); }
};

double iou(const Box& a, const Box& b);             // 0 when the union is empty
double giou(const Box& a, const Box& b);            // Rezatofighi et al. 2019, in [-1, 1]
double ciou(const Box& a, const Box& b);            // Zheng et al. 2020
bool contains(const Box& box, double x, double y);  // borders included

// The group with the most weight of boxes that overlap by IoU > threshold with its running mean (greedy, in order;
// ties: the first group). weights: one a box; empty: 1 each. Returns the indices of its members; empty for no boxes.
std::vector<std::size_t> largest_cluster(const std::vector<Box>& boxes, const std::vector<double>& weights = {},
                                         double threshold = 0.5);

}  // namespace agon::env
