// env/grading/grade_options.h - the settings of a task for its grader, besides the gold answer.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/json.h"
#include "env/grading/answer/number/number.h"
#include "env/grading/coordinates.h"

namespace agon::env {

// A grader that does not use one of these refuses it, except `options`.
struct GradeOptions {
  std::vector<std::string> options;                 // choice: the texts of A, B, C, ...
  std::optional<Tolerance> tolerance;               // number; gui_step: `relative` alone, a share of the screen
  std::optional<Coordinates> coordinates;           // of the gold and of the response
  std::optional<Coordinates> response_coordinates;  // of the response, where it is on another scale
  std::optional<std::pair<double, double>> size;    // of the picture, where pixels and shares meet
};
// The keys of a task that GradeOptions come from.
inline const std::vector<std::string> kGradeKeys = {"options", "tolerance", "coordinates", "response_coordinates",
                                                    "size"};
// From a task's JSON object: "options": [..]; "tolerance": 0.05 (relative) or {"relative": .., "absolute": ..};
// "coordinates", "response_coordinates": "pixels", "0-1", "0-1000"; "size": [width, height]. null counts as absent.
// Throws Error for other values.
GradeOptions grade_options_of(const Json& task);

// A value of a task in a message: ASCII alone, and not all of what is long.
std::string printed(const Json& value);
std::string text_of(const Json& value);  // a text as it is, another value as JSON

}  // namespace agon::env
