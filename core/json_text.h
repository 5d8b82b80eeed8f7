// core/json_text.h - JSON that a user's file, a server or an earlier run wrote, with its nesting and its keys bounded:
// a value nested 100,000 deep parses, and ends the process when it is printed; an object of 100,000 keys takes a
// minute.
#pragma once

#include <string_view>

#include "core/json.h"

namespace agon {

inline constexpr int kDeepestJson = 100, kMostJsonKeys = 10'000;  // keys: of one object

// Throws Error "not JSON: ...", with the place of the fault, or which of the bounds the text passes.
Json json_of(std::string_view text);
Json json_or_discarded(std::string_view text);  // is_discarded() where json_of throws

}  // namespace agon
