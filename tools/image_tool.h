// tools/image_tool.h - the tool `image`: crop, rotate, resize, brighten, contrast, denoise, sharpen and draw, for
// agents that write no code. Pictures of the episode are numbered from 1 and never change: every result is a new one.
// Places are 0 to 1000 on both sides, whatever the size.
#pragma once

#include <memory>

#include "tools/tool.h"

namespace agon::tools {

// Stateless: forks share it. The same call gives the same bytes.
std::unique_ptr<Tool> make_image_tool();

}  // namespace agon::tools
