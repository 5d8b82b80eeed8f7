// env/grading/place_refused.h - removes places from texts that say that the target was not found, before
// env/grading/box_text.h reads them. A pure function, in linear time.
#pragma once

#include <string>
#include <string_view>

namespace agon::env {

// Removes the sentences that cannot hold the answer: examples of a format; a sentence that says that nothing was found;
// the sentences before it; and later ones that give the place of another thing. Answers after "the answer is" and
// places that stand alone stay.
std::string without_refusals(std::string_view plain);

}  // namespace agon::env
