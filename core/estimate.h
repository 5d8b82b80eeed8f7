// core/estimate.h - a figure with its 95 % interval and its number of tasks, and how JSON and tables show them.
#pragma once

#include <cstddef>
#include <limits>
#include <string>

#include "core/intervals.h"
#include "core/json.h"

namespace agon {

struct Estimate {
  static constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

  double value = kUndefined;
  Interval interval{kUndefined, kUndefined};
  std::size_t tasks = 0;  // number of units behind the interval (tasks, sets, problems); 0: unknown
  bool defined() const;
};

Json number_or_null(double value);             // null: NaN or infinite
Json interval_json(const Interval& interval);  // [low, high]
// Puts the interval and the tasks of a defined estimate into figures["ci"][name] and figures["n"][name].
void add_interval(Json& figures, const std::string& name, const Estimate& estimate);

std::string figure_text(double value);                // "0.512"; "-": NaN or infinite
std::string interval_text(const Interval& interval);  // "[0.412, 0.612]"

}  // namespace agon
