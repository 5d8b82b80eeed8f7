// env/grading/answer/denied.h - tells whether the words next to an answer deny it or make it only a bound, in some
// twenty languages. Pure functions. Each reads only a few words, so all answers of a text take linear time.
#pragma once

#include <string_view>

namespace agon::env {

// Does a plain text end with words that deny the answer after it: "not", "cannot be", "anything but", "nicht", "不是"?
bool denies_next(std::string_view before);
// Does a plain text begin with words that deny the answer before it: " is wrong", "? No.", ", but that is wrong", "가
// 아니라", " değil"?
bool denies_last(std::string_view after);

// Do the words before the number between two texts make it a bound: "at least", ">", "超过"? "A maximum of" does,
// unless the maximum is reached: "a maximum of 45 was reached in 2010".
bool bounds_next(std::string_view before, std::string_view after);
// Does a plain text begin with words that make the number before it a bound ("+", " or more", "以上"), or with "and a
// half"?
bool bounds_last(std::string_view after);

}  // namespace agon::env
