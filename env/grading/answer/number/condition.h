// env/grading/answer/number/condition.h - removes numbers that only state a condition of an answer: when, where, of
// what, or compared with what. Pure functions of plain texts, in linear time.
#pragma once

#include <string>
#include <string_view>

namespace agon::env {

// Each sentence without the digits of its conditions, as long as another number is left in it:
//   "After 5 years, it is 17 feet tall", "If a cup holds 3, 6 hold 18"   up to the comma
//   "12 batches with 3 cups left over", "36 g per 100 g", "of the 9"      a preposition's number
//   "the value rose by 14 from 2005 to 2010", "ages 18 to 29"             both ends of a range
//   "has 38 medals, followed by Japan with 27", "$60 instead of $80"      a comparison, to the end
//   "14 stickers, 6 more than Ana", "3 times as many", "2 of which"       differences, factors, parts
//   "In week 4", "Bus 12", "Covid-19"                                     names
std::string without_conditions(std::string_view plain);

// The text without equations that say where its answer holds: "The maximum is 9 at x = 3", "When x = 2, y = 7". They
// stay if the number before them is itself a side of an equation ("2x = 6 holds at x = 3").
std::string without_places_of_variables(std::string_view plain);

}  // namespace agon::env
