// env/grading/answer/named.h - which options a sentence names by their texts, and which it denies. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace agon::env {

struct NamedOptions {
  std::set<std::size_t> named, denied;  // "not Paris but London": London, Paris
};

// By the words of an option; by its text where its script writes no blanks (Chinese, Japanese) or joins endings to
// words (Korean); by its signs in the first sentence where it has no words. Words of one letter are no evidence, and
// neither is what stands within the text of a longer option: the "green" of "dark green". An option that the text has
// nothing about ("I cannot find Germany") is neither named nor denied. An option that is named once without denial is
// not denied. `plain`: a plain text.
NamedOptions named_options(std::string_view plain, const std::vector<std::string>& options);

// Of Chinese, Japanese or Korean.
bool is_east_asian(std::int32_t code_point);

}  // namespace agon::env
