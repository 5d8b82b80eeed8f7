// env/grading/answer/named.h - finds the options that a text names by their texts, and those that it denies. Pure
// functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace agon::env {

struct NamedOptions {
  std::set<std::size_t> named, denied;  // "not Paris but London": names London, denies Paris
};

// A text names an option by the option's words. If the script has no blanks (Chinese, Japanese) or joins endings to
// words (Korean), it names the option by the option's text. An option without words is named by its signs, in the first
// sentence. Words of one letter do not count, nor does the text of an option within that of a longer one: the "green"
// of "dark green". An option that the text knows nothing about ("I cannot find Germany") is neither named nor denied.
// An option that is named once without denial is not denied. `plain`: a plain text.
NamedOptions named_options(std::string_view plain, const std::vector<std::string>& options);

// Is it a character of Chinese, Japanese or Korean?
bool is_east_asian(std::int32_t code_point);

}  // namespace agon::env
