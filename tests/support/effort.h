// tests/support/effort.h - how much of it a test does.
#pragma once

namespace agon::test {

// Under a sanitizer a loop takes twenty times as long: fewer rounds find its faults as well.
inline constexpr bool kSanitized = AGON_SANITIZED;

}  // namespace agon::test
