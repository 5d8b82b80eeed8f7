// env/suites/phone/screen.h - the picture of a phone's screen, 112 x 168. What lies where, and under a tap, is in
// state.h.
#pragma once

#include "core/pictures/image.h"
#include "env/suites/phone/state.h"

namespace agon::env::phone {

// A function of its arguments alone; what name_of() tells apart looks different.
Image draw_screen(const Layout& layout, const State& state);

}  // namespace agon::env::phone
