// env/grading/box.h - boxes and their overlaps (IoU, GIoU, CIoU). env/grading/box_text.h reads and writes them.
#pragma once

#include <cstddef>
#include <vector>

namespace agon::env {

// A box, given by two of its corners. A valid box has x1 <= x2 and y1 <= y2. The caller chooses the units (agon's
// suites: 0-1000 of the picture's sides).
struct Box {
  double x1 = 0, y1 = 0, x2 = 0, y2 = 0;
  bool operator==(const Box&) const = default;
  double area() const { return (x2 - x1) * (y2 - y1); }
};

double iou(const Box& a, const Box& b);             // 0 when the union is empty
double giou(const Box& a, const Box& b);            // Rezatofighi et al. 2019, in [-1, 1]
double ciou(const Box& a, const Box& b);            // Zheng et al. 2020
bool contains(const Box& box, double x, double y);  // borders included

// Groups boxes greedily, in order: a box joins the first group whose running mean it overlaps by IoU > threshold.
// Returns the indices of the boxes in the group with the most weight (ties: the first group); empty without boxes.
// `weights`: one per box; empty: 1 each.
std::vector<std::size_t> largest_cluster(const std::vector<Box>& boxes, const std::vector<double>& weights = {},
                                         double threshold = 0.5);

}  // namespace agon::env
