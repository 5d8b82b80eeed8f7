// tests/support/effort.h - how many rounds a randomised test runs.
#pragma once

namespace agon::test {

// Rounds of a loop. A sanitizer makes each round twenty times slower, and finds its faults in a twentieth of them.
constexpr int rounds(int plainly) { return AGON_SANITIZED ? (plainly + 19) / 20 : plainly; }

}  // namespace agon::test
