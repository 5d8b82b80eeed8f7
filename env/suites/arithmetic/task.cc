#include "env/suites/arithmetic/task.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "core/text.h"
#include "env/grading/single_rules.h"
#include "env/protocol.h"

namespace agon::env {
namespace {

constexpr int kLargest[kArithmeticLevels] = {20, 99, 99, 99}, kLargestFactor = 9;
constexpr std::size_t kMostDigits = 6;

int applied(char sign, int left, int right) {
  return sign == '+' ? left + right : sign == '-' ? left - right : left * right;
}

// A sum or a difference that starts from `result`.
Operation draw_operation(int result, int largest, Rng& rng) {
  if (result > 1 && rng.chance(0.5)) return {'-', rng.between(1, std::min(result - 1, largest))};
  return {'+', rng.between(1, largest)};
}

std::string kind_of(const std::vector<Operation>& operations) {
  if (operations.size() == 3) return "product";
  if (operations.size() == 2) return "two_operations";
  return operations[0].sign == '+' ? "sum" : "difference";
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin == text.npos ? std::string_view() : text.substr(begin);
}

std::optional<int> take_number(std::string_view& text) {
  text = without_blanks(text);
  const bool is_negative = text.starts_with('-');
  std::size_t end = is_negative ? 1 : 0;
  int number = 0;
  for (; end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])); ++end) {
    if (end == kMostDigits) return std::nullopt;
    number = number * 10 + (text[end] - '0');
  }
  if (end == (is_negative ? 1U : 0U)) return std::nullopt;
  text.remove_prefix(end);
  return is_negative ? -number : number;
}

std::optional<char> take_sign(std::string_view& text) {
  constexpr std::pair<std::string_view, char> kSigns[] = {{"+", '+'}, {"-", '-'}, {"\u2212", '-'}, {"*", '*'},
                                                          {"x", '*'}, {"X", '*'}, {"\u00d7", '*'}, {"\u00b7", '*'}};
  text = without_blanks(text);
  for (const auto& [written, sign] : kSigns) {
    if (!text.starts_with(written)) continue;
    text.remove_prefix(written.size());
    return sign;
  }
  return std::nullopt;
}

// What the turn has stated before a step.
struct Stated {
  std::size_t operations = 0;
  int result = 0;
};

Stated stated_before(const ArithmeticTask& task, std::string_view before) {
  Stated stated{0, task.first};
  for (const Span& span : split_steps(before))
    if (const std::optional<Equation> equation = parse_equation(span.of(before))) {
      ++stated.operations;
      stated.result = equation->result;
    }
  return stated;
}

Equation next_equation(const ArithmeticTask& task, const Stated& stated) {
  const Operation& operation = task.operations[stated.operations];
  return {stated.result, operation.sign, operation.number, applied(operation.sign, stated.result, operation.number)};
}

bool is_same(const Equation& a, const Equation& b) {
  const bool straight = a.left == b.left && a.right == b.right;
  const bool turned = a.sign != '-' && a.left == b.right && a.right == b.left;
  return a.sign == b.sign && (straight || turned) && a.result == b.result;
}

StepLabel label_of(bool correct, std::string truth, std::string claim) {
  const std::string reason = correct ? "" : fmt::format("it is {}, not {}", truth, claim);
  return {correct, StepKind::reasoning, reason, std::move(truth), std::move(claim)};
}

std::string answer_step(int answer) { return wrap(Tag::answer, std::to_string(answer)); }

int nudged(int number, Rng& rng) {
  const int distance = rng.chance(0.75) ? 1 : 10;
  return number > distance && rng.chance(0.5) ? number - distance : number + distance;
}

Equation corrupt_equation(const ArithmeticTask& task, Equation equation, ErrorKind kind, Rng& rng) {
  int& operand = rng.chance(0.5) ? equation.left : equation.right;
  if (kind == ErrorKind::calculation) {
    equation.result = nudged(equation.result, rng);
    return equation;
  }
  if (kind == ErrorKind::misread_value) operand = nudged(operand, rng);
  if (kind == ErrorKind::wrong_object) operand = rng.chance(0.5) ? task.first : rng.pick(task.operations).number;
  if (kind == ErrorKind::wrong_condition) equation.sign = equation.sign == '+' ? '-' : '+';
  if (equation.sign == '-' && equation.left < equation.right) std::swap(equation.left, equation.right);
  equation.result = applied(equation.sign, equation.left, equation.right);
  return equation;
}

// The step with an error of that kind, which may still leave it right; nothing if the kind does not fit.
std::optional<std::string> changed(const ArithmeticTask& task, const StepQuery& query, ErrorKind kind, Rng& rng) {
  const std::optional<Equation> equation = parse_equation(query.step);
  if (equation && kind != ErrorKind::unjustified_jump) return to_string(corrupt_equation(task, *equation, kind, rng));
  const bool fits = equation ? kind == ErrorKind::unjustified_jump : kind == ErrorKind::calculation;
  if (!fits || (!equation && !extract_answer(query.step))) return std::nullopt;
  return answer_step(nudged(task.result(), rng));
}

}  // namespace

std::string ArithmeticTask::expression() const {
  std::string text = std::to_string(first);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const bool binds_tighter = operations[i].sign == '*' && i > 0;
    text = fmt::format("{} {} {}", binds_tighter ? "(" + text + ")" : text, operations[i].sign, operations[i].number);
  }
  return text;
}

int ArithmeticTask::result() const {
  int so_far = first;
  for (const Operation& operation : operations) so_far = applied(operation.sign, so_far, operation.number);
  return so_far;
}

ArithmeticTask draw_arithmetic_task(int level, Rng& rng) {
  const int largest = kLargest[level - 1];
  ArithmeticTask task{{}, rng.between(1, largest), {}};
  task.operations.push_back(draw_operation(task.first, largest, rng));
  if (level == 4) task.operations.push_back({'*', rng.between(2, kLargestFactor)});
  if (level > 2) task.operations.push_back(draw_operation(task.result(), largest, rng));
  task.kind = kind_of(task.operations);
  return task;
}

std::optional<Equation> parse_equation(std::string_view text) {
  const auto left = take_number(text);
  const auto sign = left ? take_sign(text) : std::nullopt;
  const auto right = sign ? take_number(text) : std::nullopt;
  text = without_blanks(text);
  if (!right || !text.starts_with('=')) return std::nullopt;
  text.remove_prefix(1);
  const auto result = take_number(text);
  const std::string_view rest = trim(text);
  if (!result || !(rest.empty() || rest == ".")) return std::nullopt;
  return Equation{*left, *sign, *right, *result};
}

std::string to_string(const Equation& equation) {
  return fmt::format("{} {} {} = {}", equation.left, equation.sign, equation.right, equation.result);
}

std::vector<std::string> solve_arithmetic(const ArithmeticTask& task) {
  std::vector<std::string> steps;
  Stated stated{0, task.first};
  for (; stated.operations < task.operations.size(); ++stated.operations) {
    const Equation equation = next_equation(task, stated);
    steps.push_back(to_string(equation));
    stated.result = equation.result;
  }
  steps.push_back(answer_step(stated.result));
  return steps;
}

bool is_gold_answer(const ArithmeticTask& task, std::string_view answer) {
  const std::optional<double> number = parse_number(answer);
  return number && *number == static_cast<double>(task.result());
}

std::optional<StepLabel> check_arithmetic_step(const ArithmeticTask& task, const StepQuery& query) {
  if (const std::optional<std::string> answer = extract_answer(query.step))
    return label_of(is_gold_answer(task, *answer), std::to_string(task.result()), *answer);
  const std::optional<Equation> equation = parse_equation(query.step);
  const Stated stated = stated_before(task, query.before);
  if (!equation || stated.operations >= task.operations.size()) return std::nullopt;
  const Equation expected = next_equation(task, stated);
  return label_of(is_same(*equation, expected), to_string(expected), to_string(*equation));
}

std::optional<std::string> corrupt_arithmetic_step(const ArithmeticTask& task, const StepQuery& query, ErrorKind kind,
                                                   Rng& rng) {
  constexpr int kMostDraws = 16;
  for (int draw = 0; draw < kMostDraws; ++draw) {
    std::optional<std::string> step = changed(task, query, kind, rng);
    if (!step) return std::nullopt;
    const std::optional<StepLabel> label = check_arithmetic_step(task, {query.before, *step});
    if (label && !label->correct) return step;
  }
  return std::nullopt;
}

}  // namespace agon::env
