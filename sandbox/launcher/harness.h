// sandbox/launcher/harness.h - the interpreter's side of a session: the build makes harness.cc of harness.py.
#pragma once

namespace agon::sandbox::launcher {

extern const char* const kHarness;  // the text of harness.py

}  // namespace agon::sandbox::launcher
