// env/suites/darkroom/task.h - a task of the suite darkroom: a chart and a question about it, in a picture that has to
// be repaired first. Also the expert's turns, and checks of a step.
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
  Image clean;     // the undamaged chart
  Degraded shown;  // the picture that the policy sees
  std::string prompt, kind;
};

// Draws a chart as the suite charts does, and damages its picture.
DarkroomTask draw_darkroom_task(int level, Split split, Rng& rng);

// The distance of a picture from `clean`, 0 to 255. A page whose region is not cut out yet is a bit farther than its
// region.
double distance_from_clean(const DarkroomTask& task, const Image& picture);
// Whether a step that turns `before` into `after` is right: it leaves much less to repair.
bool mends(const DarkroomTask& task, const Image& before, const Image& after);
// The bars in a picture of the chart, in the form of StepResult::info["objects"]; none if the picture shows something
// else.
Json darkroom_objects(const DarkroomTask& task, const Image& picture);

// The sentence that names what is wrong: "It is too dark and noisy."
std::string describe_defects(const Defects& defects);
std::optional<Defects> parse_description_of_defects(std::string_view sentence);

// The expert's turns.
std::string naming_turn(const Defects& defects);
std::string mending_turn(const DarkroomTask& task, const Defects& defects);
std::string answering_turn(const std::vector<std::string>& steps);  // steps: of solve_chart

}  // namespace agon::env
