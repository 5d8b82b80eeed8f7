// env/grading/grade_options.h - the settings that a task gives its grader in addition to the gold answer: options,
// tolerance, coordinates and picture size.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/json.h"
#include "env/grading/answer/number/number.h"
#include "env/grading/coordinates.h"

namespace agon::env {

// A grader throws Error for a setting that it does not use, except `options`.
struct GradeOptions {
  std::vector<std::string> options;                 // choice: the texts of A, B, C, ...
  std::optional<Tolerance> tolerance;               // number; gui_step: only `relative`, a share of the screen
  std::optional<Coordinates> coordinates;           // of the gold and of the response
  std::optional<Coordinates> response_coordinates;  // of the response, if it is on another scale
  std::optional<std::pair<double, double>> size;    // of the picture in pixels; converts pixels to shares
};
// The keys of a task that grade_options_of reads.
inline const std::vector<std::string> kGradeKeys = {"options", "tolerance", "coordinates", "response_coordinates",
                                                    "size"};
// From a task's JSON object: "options": [..]; "tolerance": 0.05 (relative) or {"relative": .., "absolute": ..};
// "coordinates", "response_coordinates": "pixels", "0-1", "0-1000"; "size": [width, height]. null counts as absent.
// Throws Error for other values.
GradeOptions grade_options_of(const Json& task);

// A value of a task as a message shows it: as JSON in ASCII, cut if it is long.
std::string printed(const Json& value);
std::string text_of(const Json& value);  // a string as it is, any other value as JSON

}  // namespace agon::env
