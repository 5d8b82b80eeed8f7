// agents/learn/loop/split_agreement.h - how well PDCR's split into visual and textual steps agrees with a suite's own
// labels, perception and reasoning (PDCR, Fig. 7 and section 17). Only steps with a label count.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "core/estimate.h"

namespace agon::agents {

// A labelled step with PDCR's measurements and decisions.
struct SplitStep {
  std::size_t task = 0;
  bool perception = false;        // the suite's label
  std::vector<double> visual;     // V, per picture change
  std::vector<bool> otsu, top_k;  // visual or not, per picture change
  bool random = false;
};

// Shares of the steps; the interval is over their tasks (core/intervals.h).
struct SplitAgreement {
  Estimate accuracy;  // visual if the label is perception, textual if it is reasoning
  double visual_share = 0;
  double perception_found = 0, reasoning_found = 0;  // share of the steps with that label
};
// visual: the split's decision for a step.
SplitAgreement agreement(const std::vector<SplitStep>& steps, const std::function<bool(const SplitStep&)>& visual);

}  // namespace agon::agents
