// env/grading/answer/reason.h - separates an answer from the reasons after it, and finds corrections that replace it.
// Pure functions of plain texts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agon::env {

// A sentence up to where its reason or comparison begins: " because", ", which", ", not", " (".
std::string_view before_reason(std::string_view sentence);

// The text without additions after a number: " because ..", " if ..", " (..)" with other numbers, "; ..", and a list of
// parts after a colon. A reason that draws a conclusion ("so", "therefore") stays.
std::string without_reasons(std::string_view plain);

// The text without brackets that hold words and numbers, and without clauses that begin with ", which". Such a clause
// ends at the comma before the sentence's verb, or with the sentence. A clause that denies ("which is wrong") stays.
std::string without_asides(std::string_view plain);

// The text before "Check:", "Verification:" and the like, if a number stands before them.
std::string_view before_check(std::string_view plain);
// The text without "Let me know if ..", "Hope this helps!" and the like at its end.
std::string_view without_closing(std::string_view plain);

// The texts after "Actually", "Correction:", "scratch that" and the like, the last first. Searches only the short last
// part of a text, and never its beginning. At most eight.
std::vector<std::string_view> corrections_in(std::string_view plain);
// The last conclusion in a correction (from "so", "thus" or "therefore" on); without one, its first sentence. Without
// "it's" and the like.
std::string_view corrected_sentence(std::string_view correction);

}  // namespace agon::env
