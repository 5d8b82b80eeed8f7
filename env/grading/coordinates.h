// env/grading/coordinates.h - the scales of coordinates in a picture: pixels, 0 to 1, 0 to 1000.
#pragma once

#include <optional>
#include <utility>

namespace agon::env {

// The scale of points and boxes: pixels of the picture, or shares of its sides from 0 to 1 or 0 to 1000.
enum class Coordinates { pixels, unit, thousandths };

// The width and height of the picture on a scale. `size`: in pixels; without it, the picture counts as 1 x 1.
std::pair<double, double> extent(Coordinates scale, const std::optional<std::pair<double, double>>& size);
// The factors, across and down, that convert a place from one scale to another. `size`: as above.
std::pair<double, double> growth(Coordinates from, Coordinates to,
                                 const std::optional<std::pair<double, double>>& size);

}  // namespace agon::env
