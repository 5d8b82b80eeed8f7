// env/grading/answer/missing.h - recognises texts that give no answer, whatever numbers they contain. Pure functions of
// plain texts, in linear time.
#pragma once

#include <string_view>

namespace agon::env {

// "The chart does not provide data for 2021.": a text whose first or last sentence says that it cannot or does not
// answer, in some dozen languages, and that says no more behind it.
bool refuses(std::string_view plain);
// Does the last clause of a text say that the number asked for is not known: "Only 5 bars are visible, so I cannot
// determine the total."? Not one that limits an answer: "I see 5 dogs, but I cannot tell whether there are more."
bool refuses_number(std::string_view plain);
// Does the value of a phrase say that there is no answer: "cannot be determined", "N/A", "unknown"?
bool refuses_first(std::string_view value);

// "Next, we multiply by the price, which is": a text of some words that ends within a sentence or a sum.
bool breaks_off(std::string_view plain);

}  // namespace agon::env
