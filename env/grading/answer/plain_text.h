// env/grading/answer/plain_text.h - the first step of grading (env/grading/grader.h): turns an answer into plain text.
// A pure function over any bytes, in linear time; it does not throw.
#pragma once

#include <string>
#include <string_view>

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

}  // namespace agon::env
