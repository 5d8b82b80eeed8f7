// env/suites/charts/picture.h - a chart task as the policy sees it.
#pragma once

#include "core/json.h"
#include "core/pictures/image.h"
#include "env/suites/charts/task.h"

namespace agon::env {

Image draw_chart(const ChartTask& task);        // kChartSide pixels on both sides
Json chart_objects(const ChartTask& task);      // the bars, as StepResult::info["objects"] has them
std::vector<std::string> chart_object_names();  // every name among them, sorted

}  // namespace agon::env
