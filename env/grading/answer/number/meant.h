// env/grading/answer/number/meant.h - finds the number that a text gives as its answer. A pure function of plain
// texts; nothing throws for any text.
#pragma once

#include <optional>
#include <string_view>

#include "env/grading/answer/number/number.h"

namespace agon::env {

// The number that a text means, by the first of these that exists: the whole text; what a phrase says ("the answer
// is"); what follows its last "="; the only number in it; the only one after its last "is", "are", "so" and the like;
// the only one of its last line or sentence. Bounds and denied numbers (env/grading/answer/denied.h) do not count, nor
// do two numbers instead of one. A correction supersedes all before it, and a reason does not replace a number
// (env/grading/answer/reason.h). English number words count if they are the whole of such a part
// (env/grading/answer/number/word.h).
std::optional<Number> read_number(std::string_view plain);

}  // namespace agon::env
