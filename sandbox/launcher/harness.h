// sandbox/launcher/harness.h - the Python program that every session's interpreter runs: it runs the code of calls and
// answers the supervisor. The build generates harness.cc from harness.py.
#pragma once

namespace agon::sandbox::launcher {

extern const char* const kHarness;  // the text of harness.py

}  // namespace agon::sandbox::launcher
