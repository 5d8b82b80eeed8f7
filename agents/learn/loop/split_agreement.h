// agents/learn/loop/split_agreement.h - how well PDCR's split of steps into visual and textual ones agrees with a
// suite's own labels, perception and reasoning (PDCR, Fig. 7 and section 17). Only steps that the suite labels count.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "core/estimate.h"

namespace agon::agents {

// A labelled step and what PDCR measured and decided.
struct SplitStep {
  std::size_t task = 0;
  bool perception = false;        // the suite's label
  std::vector<double> visual;     // V, by picture
  std::vector<bool> otsu, top_k;  // visual or not, by picture
  bool random = false;
};

// Shares of the steps; the interval is over their tasks (core/intervals.h).
struct SplitAgreement {
  Estimate accuracy;  // visual where the label is perception, textual where it is reasoning
  double visual_share = 0;
  double perception_found = 0, reasoning_found = 0;  // of the steps of that label
};
// visual: what a split says of a step.
SplitAgreement agreement(const std::vector<SplitStep>& steps, const std::function<bool(const SplitStep&)>& visual);

}  // namespace agon::agents
