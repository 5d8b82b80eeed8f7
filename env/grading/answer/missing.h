// env/grading/answer/missing.h - recognises texts that give no answer, whatever numbers they contain. Pure functions of
// plain texts, in linear time.
#pragma once

#include <string_view>

namespace agon::env {

// Does the first or last sentence of a text say that it cannot or does not answer ("The chart does not provide data for
// 2021."), with no answer after it? Knows some dozen languages.
bool refuses(std::string_view plain);
// Does the last clause of a text say that the number asked for is not known: "Only 5 bars are visible, so I cannot
// determine the total."? A clause that only limits an answer does not count: "I see 5 dogs, but I cannot tell whether
// there are more."
bool refuses_number(std::string_view plain);
// Does the value of a phrase say that there is no answer: "cannot be determined", "N/A", "unknown"?
bool refuses_first(std::string_view value);

// Does a text of several words end within a sentence or a sum: "Next, we multiply by the price, which is"?
bool breaks_off(std::string_view plain);

}  // namespace agon::env
