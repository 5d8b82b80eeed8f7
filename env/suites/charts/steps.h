// env/suites/charts/steps.h - the expert of the suite charts: a worked solution, the truth of a step in its context, and
// steps made wrong on purpose.
//
// A reading is right when the picture says so. A reasoning step is right when it follows from the question and from
// what the turn says before it: values as read there (as they are, where nothing is read yet), and as result or extreme
// what was stated last. So the first wrong step of a turn carries the blame, not those that follow from it. The answer
// is right when it is the gold answer.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "env/env.h"
#include "env/suites/charts/task.h"

namespace agon::env {

std::vector<std::string> solve_chart(const ChartTask& task);  // the steps, the last one the answer
// The steps of somebody who misreads the chart; where that changes no answer (the highest of 9, 8 and 8), the last step
// is wrong. Empty where the task has no such way.
std::vector<std::string> solve_chart_wrongly(const ChartTask& task, Rng& rng);
bool is_gold_answer(const ChartTask& task, std::string_view answer);
// Nothing for a step that makes no claim of chart_claims.h.
std::optional<StepLabel> check_chart_step(const ChartTask& task, const StepQuery& query);
// The chart as somebody sees it who misreads one bar, or takes two bars for each other, so that the answer is wrong;
// nothing where no such slip makes it so.
std::optional<ChartTask> misread_chart(const ChartTask& task, Rng& rng);
// A wrong version of a right step, as check_chart_step labels it; nothing where the kind does not fit the step.
std::optional<std::string> corrupt_chart_step(const ChartTask& task, const StepQuery& query, ErrorKind kind, Rng& rng);

}  // namespace agon::env
