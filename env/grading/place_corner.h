// env/grading/place_corner.h - recognises a point that a text calls a corner of a box: "the top-left corner is (1,2)".
// Pure functions; each reads only a few words around the point.
#pragma once

#include <optional>
#include <string_view>

namespace agon::env {

// A corner of a box; opposite() is the corner diagonally across.
enum class Corner { top_left, bottom_right, top_right, bottom_left };
Corner opposite(Corner corner);
// The corner that a text calls a point, from the text `before` it (from the previous place on) and `after` it: "the
// top-left corner is", "starts at", " in the bottom right", "左上角为".
std::optional<Corner> corner_of_point(std::string_view before, std::string_view after);

}  // namespace agon::env
