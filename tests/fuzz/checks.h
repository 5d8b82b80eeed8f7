// tests/fuzz/checks.h - what fuzzers check with: a check that fails ends the program.
#pragma once

#include <utf8proc.h>

#include <cstddef>
#include <cstdlib>
#include <string_view>

inline void require(bool holds) {
  if (!holds) std::abort();
}

inline bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    utf8proc_int32_t character = -1;
    const auto size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                       static_cast<utf8proc_ssize_t>(text.size()), &character);
    if (size <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(size));
  }
  return true;
}
