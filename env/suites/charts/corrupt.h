// env/suites/charts/corrupt.h - makes chart readings and steps wrong on purpose.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/rng.h"
#include "env/env.h"
#include "env/suites/charts/task.h"

namespace agon::env {

// The chart as seen by somebody who misreads one bar, or confuses two bars, so that the answer is wrong; nothing if no
// such slip makes it wrong.
std::optional<ChartTask> misread_chart(const ChartTask& task, Rng& rng);
// The steps of somebody who misreads the chart. If no misreading changes the answer (the highest of 9, 8 and 8), the
// last step is wrong instead. Empty if the task allows no such mistake.
std::vector<std::string> solve_chart_wrongly(const ChartTask& task, Rng& rng);
// A wrong version of a right step, as check_chart_step labels it; nothing if the kind does not fit the step.
std::optional<std::string> corrupt_chart_step(const ChartTask& task, const StepQuery& query, ErrorKind kind, Rng& rng);

}  // namespace agon::env
