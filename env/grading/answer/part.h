// env/grading/answer/part.h - the second step of grading (env/grading/grader.h): finds the part of a response that is
// its answer. Pure functions over any bytes, in linear time; nothing throws.
#pragma once

#include <string>
#include <string_view>

namespace agon::env {

// The part of a response that is graded: what stands behind its last </think>, end tokens left out, and of that
//   1. the last <answer>, to its end or the response's, and in it the last \boxed{}
//   2. the last \boxed{} (or <|begin_of_box|>) that is not empty
//   3. the whole, without its <score>
struct AnswerPart {
  enum class Kind { tag, box, whole } kind = Kind::whole;
  std::string text;  // plain
  std::string raw;   // as it was written, without white space at its ends
};
AnswerPart answer_part(std::string_view response);
// With the value of "answer" as its text where it is, or ends with, a JSON object: {"answer": 5, "confidence": 0.9}.
AnswerPart without_object(AnswerPart part);
std::string_view to_string(AnswerPart::Kind kind);  // "<answer>", "\boxed", "the whole response"

}  // namespace agon::env
