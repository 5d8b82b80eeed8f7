// env/grading/answer/phrases.h - finds the phrases that give an answer in a text: "the answer is ..". Pure functions
// of plain texts, in linear time; nothing throws.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agon::env {

struct Phrase {
  std::string value;     // from the end of the phrase to the end of its line, as plain text
  std::string sentence;  // `value` up to the end of its sentence, without the last period
};
// The phrases that give an answer, the strongest first: "final answer" before "answer", later ones before earlier ones,
// "the answer is correct" and the like at the end. At most 64. `plain`: a plain text.
std::vector<Phrase> answer_phrases(std::string_view plain);

}  // namespace agon::env
