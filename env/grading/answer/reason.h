// env/grading/answer/reason.h - separates an answer from the reasons after it, and finds corrections that replace it.
// Pure functions of plain texts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agon::env {

// A sentence up to where its reason or comparison begins: " because", ", which", ", not", " (".
std::string_view before_reason(std::string_view sentence);

// Without what sentences with a number say behind it: " because ..", " if ..", " (..)" with other numbers, "; ..", and
// a colon's list of parts. A reason that draws a conclusion ("so", "therefore") stays.
std::string without_reasons(std::string_view plain);

// Without brackets that hold words and numbers, and without clauses that begin with ", which". A clause ends at the
// comma before the sentence's verb, or with the sentence. A clause that denies ("which is wrong") stays.
std::string without_asides(std::string_view plain);

// Up to where "Check:", "Verification:" and the like begin, behind a number.
std::string_view before_check(std::string_view plain);
// Without "Let me know if ..", "Hope this helps!" and the like at the end.
std::string_view without_closing(std::string_view plain);

// What stands behind "Actually", "Correction:", "scratch that" and the like, the last first; from the short end of a
// text alone, and never its beginning. At most eight.
std::vector<std::string_view> corrections_in(std::string_view plain);
// Of a correction: its first sentence, or a last one that concludes ("So 4."), without "it's" and the like. Nothing
// where more sentences than these hold what may be an answer.
std::string_view corrected_sentence(std::string_view correction);

}  // namespace agon::env
