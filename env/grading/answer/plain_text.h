// env/grading/answer/plain_text.h - the first step of grading (env/grading/grader.h): turns an answer into plain text.
// A pure function over any bytes, in linear time; it does not throw.
#pragma once

#include <string>
#include <string_view>

namespace agon::env {

// The text without formatting that only changes its looks. Case, words, signs and numbers stay.
//   Unicode   NFKC; digits of any script become 0-9, any space a blank, any minus or hyphen "-", typographic quotes
//             plain ones; superscripts become ^2, vulgar fractions 1/2; no invisible characters
//   LaTeX     without $..$, \(..\), \[..\], \left, \right, spacing; \text{x}, \mathrm{x}, \boxed{x} become x;
//             \frac{1}{2} and \frac12 become 1/2, \sqrt{3} becomes √3, ^\circ becomes °; \%, \$, \times, \pi and
//             the like become their sign
//   HTML      &lt;, &gt; and &amp; become their signs
//   Markdown  without ~~struck text~~ and the marks of emphasis, code, fences and headings; without <b>, <br> and the
//             like
// White space at both ends is trimmed; runs of blanks become one; line breaks stay.
std::string plain_text(std::string_view text);

}  // namespace agon::env
