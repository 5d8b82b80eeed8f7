// env/grading/answer/part.h - the second step of grading (env/grading/grader.h): finds the part of a response that is
// its answer. Pure functions over any bytes, in linear time; nothing throws.
#pragma once

#include <string>
#include <string_view>

namespace agon::env {

// The graded part of a response: the first of these that exists after its last </think>, without end tokens:
//   1. the last <answer>, up to its closing tag or the end; within it the last \boxed{}, if there is one
//   2. the last \boxed{} (or <|begin_of_box|>) that is not empty
//   3. the whole, without its <score>; empty if the response ends within its thoughts
struct AnswerPart {
  enum class Kind { tag, box, whole } kind = Kind::whole;
  std::string text;  // plain
  std::string raw;   // as it was written, without white space at its ends
};
AnswerPart answer_part(std::string_view response);
// If the part is or ends with a JSON object such as {"answer": 5, "confidence": 0.9}: the part with the value of
// "answer" as its text.
AnswerPart without_object(AnswerPart part);
std::string_view to_string(AnswerPart::Kind kind);  // "<answer>", "\boxed", "the whole response"

}  // namespace agon::env
