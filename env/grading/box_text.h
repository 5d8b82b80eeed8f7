// env/grading/box_text.h - reads boxes and points from text, in the many forms that models write, and writes boxes as
// [x1,y1,x2,y2]. Pure functions over any bytes; nothing throws.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "env/grading/box.h"

namespace agon::env {

inline constexpr double kLargestCoordinate = 1e9;  // anything larger is not a coordinate: areas stay finite

// Returns the last box that a text names, with its corners in order. Skips denied boxes ("not [1,2,3,4]", "[1,2,3,4]
// is wrong"), landmarks of an earlier box (", left of the cat at [1,2,3,4]"), and JSON texts under keys such as "label"
// and "reason". Forms:
//   [x1,y1,x2,y2], (x1,y1,x2,y2); (x1,y1),(x2,y2); [[x1,y1],[x2,y2]]; four corners of an upright rectangle
//   <box>..</box>, <|box_start|>..<|box_end|> and the like around these, or around four numbers
//   "bbox_2d": [..] and other JSON; named sides, as JSON or x1=..: x1 y1 x2 y2; x0 y0 x1 y1; xmin ymin xmax ymax; left
//   top right bottom; x y width height (w, h)
//   two points that the text calls opposite corners, or start and end; <loc_1><loc_2><loc_3><loc_4>
//   a short text of only four numbers, separated by commas, semicolons or blanks, perhaps after "bbox:" and the like
std::optional<Box> parse_box(std::string_view text);
// Returns the last point or box that a text names, with the same exceptions; a point becomes a box without extent.
// Forms of points: (x,y), [x,y], <point>x y</point>, x=.., y=.., "x": .., "y": ..; CLICK and click(..) with one of
// these; a short text of only two numbers.
std::optional<Box> parse_place(std::string_view text);
std::string format_box(const Box& box);  // "[12,40,310,200]", rounded to whole numbers

}  // namespace agon::env
