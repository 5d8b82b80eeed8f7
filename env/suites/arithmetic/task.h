// env/suites/arithmetic/task.h - a task of the suite arithmetic: operations on whole numbers, one after another, and
// the truth of a step in its context. No number, result or answer is negative.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/rng.h"
#include "env/env.h"

namespace agon::env {

struct Operation {
  char sign = '+';  // '+', '-' or '*'
  int number = 0;   // added to the result so far, subtracted from it, or multiplied with it
};

struct ArithmeticTask {
  std::string kind;  // "sum", "difference", "two_operations", "product"
  int first = 0;
  std::vector<Operation> operations;

  std::string expression() const;  // "(17 + 25) * 3"
  int result() const;
};

inline constexpr int kArithmeticLevels = 4;

// Level 1: a sum or a difference of numbers up to 20; 2: up to 99; 3: two such operations; 4: one operation, a product
// of its result with a factor up to 9, and a third number added or subtracted.
ArithmeticTask draw_arithmetic_task(int level, Rng& rng);

// "17 + 25 = 42"
struct Equation {
  int left = 0;
  char sign = '+';
  int right = 0, result = 0;
};
// Nothing for a text that is not an equation of this form. "x" and the typographic signs are accepted too.
std::optional<Equation> parse_equation(std::string_view text);
std::string to_string(const Equation& equation);

std::vector<std::string> solve_arithmetic(const ArithmeticTask& task);  // the steps, the last one the answer
bool is_gold_answer(const ArithmeticTask& task, std::string_view answer);
// An equation is right if it applies the next operation of the task to the last result that the turn states; the two
// numbers of a sum or a product may be swapped. An answer is right if it is the gold answer. So only the first wrong
// step of a turn gets the blame. Nothing for other text, and for an equation after the last operation.
std::optional<StepLabel> check_arithmetic_step(const ArithmeticTask& task, const StepQuery& query);
// A wrong version of a right step, as check_arithmetic_step labels it; nothing if the kind does not fit the step.
std::optional<std::string> corrupt_arithmetic_step(const ArithmeticTask& task, const StepQuery& query, ErrorKind kind,
                                                   Rng& rng);

}  // namespace agon::env
