#include "core/estimate.h"

#include <fmt/format.h>

#include <cmath>

namespace agon {

bool Estimate::defined() const { return std::isfinite(value); }

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json interval_json(const Interval& interval) { return {number_or_null(interval.low), number_or_null(interval.high)}; }

void add_interval(Json& figures, const std::string& name, const Estimate& estimate) {
  if (!estimate.defined()) return;
  figures["ci"][name] = interval_json(estimate.interval);
  if (estimate.tasks > 0) figures["n"][name] = estimate.tasks;
}

std::string figure_text(double value) { return std::isfinite(value) ? fmt::format("{:.3f}", value) : "-"; }

std::string interval_text(const Interval& interval) {
  return fmt::format("[{}, {}]", figure_text(interval.low), figure_text(interval.high));
}

}  // namespace agon
