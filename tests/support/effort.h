// tests/support/effort.h - how many rounds a randomised test runs.
#pragma once

namespace agon::test {

// Rounds of a loop. Under a sanitizer a round takes about twenty times as long, and a twentieth of the rounds is enough
// to find its faults.
constexpr int rounds(int plainly) { return AGON_SANITIZED ? (plainly + 19) / 20 : plainly; }

}  // namespace agon::test
