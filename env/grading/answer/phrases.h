// env/grading/answer/phrases.h - "the answer is ..." within a text. Pure functions of plain texts, in
// linear time; nothing throws.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agon::env {

struct Phrase {
  std::string value;     // from behind the phrase to the end of its line, as plain text
  std::string sentence;  // of that, up to the end of the sentence, its last period left out
};
// The phrases that name an answer, the strongest first: "final answer" before "answer", the last before earlier ones;
// "the answer is correct" and the like last. At most 64. `plain`: a plain text.
std::vector<Phrase> answer_phrases(std::string_view plain);

}  // namespace agon::env
