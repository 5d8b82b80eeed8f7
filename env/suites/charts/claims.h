// env/suites/charts/claims.h - the claims that a step of a chart solution can make, as values and as text. Colors are
// indices in palette().
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace agon::env {

struct Reading {  // "red is 4"
  int color = 0, value = 0;
  bool operator==(const Reading&) const = default;
};
struct Extreme {  // "blue is highest"
  int color = 0;
  bool highest = true;
  bool operator==(const Extreme&) const = default;
};
struct Arithmetic {  // "4 + 7 = 11"
  int left = 0;
  char operation = '+';  // or '-'
  int right = 0, result = 0;
  bool operator==(const Arithmetic&) const = default;
};
struct Comparison {  // "4 < 7"
  int left = 0;
  char relation = '<';  // or '>'
  int right = 0;
  bool operator==(const Comparison&) const = default;
};
struct Selection {  // "above 5: blue, green" or "below 5: none"
  bool above = true;
  int threshold = 0;
  std::vector<int> colors;
  bool operator==(const Selection&) const = default;
};
struct AnswerClaim {  // "<answer>11</answer>"
  std::string text;
  bool operator==(const AnswerClaim&) const = default;
};
using Claim = std::variant<Reading, Extreme, Arithmetic, Comparison, Selection, AnswerClaim>;

// Case, white space and a final period do not matter. Nothing for any other text.
std::optional<Claim> parse_claim(std::string_view step);
std::string format_claim(const Claim& claim);  // parse(format(claim)) == claim

}  // namespace agon::env
