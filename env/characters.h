// env/characters.h - the characters of a UTF-8 text, one after another.
#pragma once

#include <utf8proc.h>

#include <cstddef>
#include <string_view>

namespace agon::env {

// Calls visit(character, bytes) for each; -1 for a byte that begins none.
template <typename Visit>
void for_each_character(std::string_view text, Visit visit) {
  while (!text.empty()) {
    utf8proc_int32_t character = -1;
    const auto size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                       static_cast<utf8proc_ssize_t>(text.size()), &character);
    const std::size_t bytes = size > 0 ? static_cast<std::size_t>(size) : 1;
    visit(size > 0 ? character : -1, text.substr(0, bytes));
    text.remove_prefix(bytes);
  }
}

}  // namespace agon::env
