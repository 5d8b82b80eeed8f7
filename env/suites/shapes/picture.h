// env/suites/shapes/picture.h - draws a shape of the suite shapes, and names its class.
#pragma once

#include <string>
#include <vector>

#include "env/kit/draw.h"
#include "env/suites/shapes/task.h"

namespace agon::env {

void draw_shape(Canvas& canvas, const Shape& shape);  // fills its box
std::string shape_class(int color, Form form);        // "red star"
std::vector<std::string> shape_classes();             // all of them, sorted

}  // namespace agon::env
