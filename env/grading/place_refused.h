// env/grading/place_refused.h - recognises texts that say that there is no place to give (env/grading/box_text.h). A
// pure function, in linear time.
#pragma once

#include <string>
#include <string_view>

namespace agon::env {

// A plain text without what cannot be its answer: examples of a format; and, around a sentence that says that nothing
// is to be found, the places before it and those that a later sentence gives for another thing. Answers behind "the
// answer is", and places that stand alone, stay.
std::string without_refusals(std::string_view plain);

}  // namespace agon::env
