// tests/support/effort.h - how much of it a test does.
#pragma once

namespace agon::test {

// Rounds of a loop. Under a sanitizer each takes twenty times as long, and fewer find its faults as well.
constexpr int rounds(int plainly) { return AGON_SANITIZED ? (plainly + 19) / 20 : plainly; }

}  // namespace agon::test
