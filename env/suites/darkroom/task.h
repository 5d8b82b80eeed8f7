// env/suites/darkroom/task.h - a task of the suite darkroom: a chart and a question about it, in a picture that has to
// be repaired first. Also what the expert writes, and what is true of a step.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/rng.h"
#include "env/env.h"
#include "env/kit/defects.h"
#include "env/suites/charts/task.h"

namespace agon::env {

inline constexpr int kDarkroomLevels = 2;  // simple: one defect or none; hard: two

struct DarkroomTask {
  ChartTask chart;
  Defects defects;
  Image clean;     // the chart as it was
  Degraded shown;  // and as it is seen
  std::string prompt, kind;
};

// Of a chart that `options` draws, as the suite charts does.
DarkroomTask draw_darkroom_task(int level, Split split, Rng& rng);

// How far a picture is from one that shows the chart as it was, 0 to 255; a page whose region is not cut out is a bit
// farther than that region.
double distance_from_clean(const DarkroomTask& task, const Image& picture);
// Whether a step from the first picture to the second is right: it leaves much less to repair.
bool mends(const DarkroomTask& task, const Image& before, const Image& after);
// The bars in a picture of the chart, as StepResult::info["objects"] has them; none in a picture of something else.
Json darkroom_objects(const DarkroomTask& task, const Image& picture);

// The sentence that names what is wrong: "It is too dark and noisy."
std::string describe_defects(const Defects& defects);
std::optional<Defects> parse_description_of_defects(std::string_view sentence);

// The expert's turns.
std::string naming_turn(const Defects& defects);
std::string mending_turn(const DarkroomTask& task, const Defects& defects);
std::string answering_turn(const std::vector<std::string>& steps);  // of solve_chart

}  // namespace agon::env
