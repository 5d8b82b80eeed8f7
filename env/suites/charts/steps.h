// env/suites/charts/steps.h - the expert of the suite charts: a worked solution, and the truth of a step in its
// context.
//
// A reading is right if the picture says so. A reasoning step is right if it follows from the question and from what
// the turn says before it: values as read there (true values for bars not read yet), and the last stated result or
// extreme. So the first wrong step of a turn gets the blame, not the steps that follow from it. The answer is right if
// it is the gold answer.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "env/env.h"
#include "env/suites/charts/task.h"

namespace agon::env {

std::vector<std::string> solve_chart(const ChartTask& task);  // the steps, the last one the answer
bool is_gold_answer(const ChartTask& task, std::string_view answer);
// Labels a step; nothing if it makes no claim of env/suites/charts/claims.h.
std::optional<StepLabel> check_chart_step(const ChartTask& task, const StepQuery& query);

}  // namespace agon::env
