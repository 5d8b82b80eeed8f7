// tools/image_tool.h - the tool `image`, which edits pictures for agents that write no code: crop, rotate, resize,
// brighten, contrast, denoise, sharpen and draw. Pictures of the episode are numbered from 1 and never change: every
// result is a new picture. Coordinates are 0 to 1000 on both sides, independent of the picture's size.
#pragma once

#include <memory>

#include "tools/tool.h"

namespace agon::tools {

// Stateless: forks share the tool. The same call gives the same bytes.
std::unique_ptr<Tool> make_image_tool();

}  // namespace agon::tools
