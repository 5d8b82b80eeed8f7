// env/grading/answer/number/meant.h - the number that a text gives as its answer. A pure function of plain texts;
// nothing throws for any text.
#pragma once

#include <optional>
#include <string_view>

#include "env/grading/answer/number/number.h"

namespace agon::env {

// The number that a text means: the whole of it, what stands behind its last "=", what a phrase says ("the answer is"),
// the only number in it, the only one behind its last "is", "are", "so" and the like, or the only one of its last line
// - the first of these that there is. Two numbers where one is wanted do not count, nor do bounds and denied numbers
// (env/grading/answer/denied.h). A correction supersedes what stands before it, and a reason does not replace a number
// (env/grading/answer/reason.h). English number words count where they are the whole of such a part
// (env/grading/answer/number/word.h).
std::optional<Number> read_number(std::string_view plain);

}  // namespace agon::env
