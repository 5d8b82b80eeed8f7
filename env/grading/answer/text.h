// env/grading/answer/text.h - the first two steps of grading (env/grading/grade.h): an answer as plain text, and the part of a response
// that is its answer. Pure functions; any bytes are read, in linear time, and nothing throws.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agon::env {

// The text without what only changes its looks. Case, words, signs and numbers stay.
//   Unicode   NFKC; digits of any script become 0-9, any space a blank, any minus or hyphen "-", typographic quotes
//             plain ones; superscripts become ^2, vulgar fractions 1/2; invisible characters go
//   LaTeX     $..$, \(..\), \[..\], \left, \right and spacing go; \text{x}, \mathrm{x}, \boxed{x} become x;
//             \frac{1}{2} and \frac12 become 1/2, \sqrt{3} becomes √3, ^\circ becomes °; \%, \$, \times, \pi and
//             the like their sign
//   HTML      &lt;, &gt; and &amp; become their signs
//   Markdown  ~~struck text~~ goes; emphasis, code ticks, fences and headings go; <b>, <br> and the like too
// White space at both ends goes, runs of blanks become one; line breaks stay.
std::string plain_text(std::string_view text);

// The words of a text as two answers are compared: plain, lower case, without articles and punctuation (SQuAD). What
// tells two answers apart stays, unlike in SQuAD: points, slashes, colons and hyphens between digits, the sign of a
// number, + and # behind a letter (A+, C++, C#), - behind a single letter (B-), and < > =.
std::vector<std::string> answer_words(std::string_view text);
// The words, parted by blanks. Where nothing is left ("A", "The The", "?"), the plain text in lower case.
std::string answer_form(std::string_view text);

// "the answer is ..." within a text.
struct Phrase {
  std::string value;     // from behind the phrase to the end of its line, as plain text
  std::string sentence;  // of that, up to the end of the sentence, its last period left out
};
// The phrases that name an answer, the strongest first: "final answer" before "answer", the last before earlier ones;
// "the answer is correct" and the like last. At most 64. `plain`: a plain text.
std::vector<Phrase> answer_phrases(std::string_view plain);

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

// Shared by the readers of answers. `plain`: a plain text.
std::string_view last_line(std::string_view plain);      // that is not blank
std::string_view first_sentence(std::string_view line);  // its period left out
// "東京です。", "서울입니다", "是蓝色的": without the "it is" of Chinese, Japanese and Korean around a short answer.
std::string_view without_copula(std::string_view text);
std::string ascii_lower(std::string_view text);  // byte for byte
bool is_word_byte(char c);                       // a letter or a digit of ASCII, or part of another character

}  // namespace agon::env
