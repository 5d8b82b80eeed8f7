// tests/fuzz/checks.h - the checks of the fuzzers: a check that fails ends the program.
#pragma once

#include <cstdlib>
#include <string_view>

#include "core/text.h"

inline void require(bool holds) {
  if (!holds) std::abort();
}

inline bool is_utf8(std::string_view text) { return agon::valid_utf8(text) == text; }
