// env/suites/charts/picture.h - draws the picture of a chart task, and lists the bars in it.
#pragma once

#include "core/json.h"
#include "core/pictures/image.h"
#include "env/suites/charts/task.h"

namespace agon::env {

Image draw_chart(const ChartTask& task);        // kChartSide pixels on both sides
Json chart_objects(const ChartTask& task);      // the bars, in the form of StepResult::info["objects"]
std::vector<std::string> chart_object_names();  // every name among them, sorted

}  // namespace agon::env
