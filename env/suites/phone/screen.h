// env/suites/phone/screen.h - draws the phone's screen, 112 x 168 pixels. state.h says where things are and what a
// click hits.
#pragma once

#include "core/pictures/image.h"
#include "env/suites/phone/state.h"

namespace agon::env::phone {

// Depends on its arguments alone. Things with different name_of() look different.
Image draw_screen(const Layout& layout, const State& state);

}  // namespace agon::env::phone
