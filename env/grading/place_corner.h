// env/grading/place_corner.h - the corner of a box that a text calls a point in it. Pure functions; each reads only a
// few words around the point.
#pragma once

#include <optional>
#include <string_view>

namespace agon::env {

// A corner of a box, and the one across.
enum class Corner { top_left, bottom_right, top_right, bottom_left };
Corner opposite(Corner corner);
// The corner that a text calls the point between `before`, which goes back to the last place, and `after`: "the
// top-left corner is", "starts at", " in the bottom right", "左上角为".
std::optional<Corner> corner_of_point(std::string_view before, std::string_view after);

}  // namespace agon::env
