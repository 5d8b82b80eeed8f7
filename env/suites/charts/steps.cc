#include "env/suites/charts/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "env/grading/published_rules.h"
#include "env/grading/single_rules.h"
#include "env/kit/draw.h"
#include "env/protocol.h"
#include "env/suites/charts/claims.h"

namespace agon::env {
namespace {

// A number that the sum still has to take in: a term of the question, or the result of an earlier step.
struct Operand {
  int sign = 1;
  Term term;
  std::optional<int> result;
};

// The statements of a turn about the task so far.
class Context {
 public:
  explicit Context(const ChartTask& task) : task_(task), values_(true_values(task)) {
    for (const Term& term : task.terms) operands_.push_back({term.sign, term, std::nullopt});
  }

  StepLabel judge(const Reading& claim) const;
  StepLabel judge(const Extreme& claim) const;
  StepLabel judge(const Arithmetic& claim) const;
  StepLabel judge(const Comparison& claim) const;
  StepLabel judge(const Selection& claim) const;
  StepLabel judge(const AnswerClaim& claim) const;

  void accept(const Reading& claim);
  void accept(const Extreme& claim);
  void accept(const Arithmetic& claim);
  void accept(const Comparison&) {}
  void accept(const Selection& claim);
  void accept(const AnswerClaim&) {}

 private:
  std::optional<int> bar_with(int color) const;
  int value_of(const Operand& operand) const;
  std::vector<Operand> operands() const;
  // The two operands that the arithmetic joins, as indices of operands().
  std::optional<std::pair<std::size_t, std::size_t>> joined(const Arithmetic& claim,
                                                            const std::vector<Operand>& operands) const;
  // The arithmetic by which an expert joins the first two operands; nothing if there is nothing to join.
  std::optional<Claim> next_arithmetic() const;

  const ChartTask& task_;
  Values values_;  // as read so far
  std::vector<Operand> operands_;
  bool selected_ = false;                // operands_ holds the bars of a selection, or results
  std::optional<int> highest_, lowest_;  // bars that the turn calls highest, lowest
};

StepLabel label(StepKind kind, std::string wrong_because) {
  return {wrong_because.empty(), kind, std::move(wrong_because), {}, {}};
}
StepLabel reasoning(std::string wrong_because) { return label(StepKind::reasoning, std::move(wrong_because)); }

StepLabel held_against(StepLabel label, const std::optional<Claim>& truth, std::string claim) {
  if (truth) label.truth = format_claim(*truth);
  label.claim = std::move(claim);
  return label;
}
std::string color_word(int color) { return std::string(palette()[static_cast<std::size_t>(color)].name); }

std::optional<int> Context::bar_with(int color) const {
  for (std::size_t i = 0; i < task_.bars.size(); ++i)
    if (task_.bars[i].color == color) return static_cast<int>(i);
  return std::nullopt;
}

int Context::value_of(const Operand& operand) const {
  if (operand.result) return *operand.result;
  int bar = bar_of(operand.term, values_);
  if (operand.term.pick == Pick::highest) bar = highest_.value_or(bar);
  if (operand.term.pick == Pick::lowest) bar = lowest_.value_or(bar);
  return values_[static_cast<std::size_t>(bar)];
}

std::vector<Operand> Context::operands() const {
  if (selected_ || !task_.condition || task_.ask != Ask::number) return operands_;
  std::vector<Operand> operands;
  for (const int bar : matching_bars(*task_.condition, values_))
    operands.push_back({1, {1, Pick::named, bar}, std::nullopt});
  return operands;
}

std::optional<std::pair<std::size_t, std::size_t>> Context::joined(const Arithmetic& claim,
                                                                   const std::vector<Operand>& operands) const {
  for (std::size_t i = 0; i < operands.size(); ++i)
    for (std::size_t j = 0; j < operands.size(); ++j) {
      if (i == j || value_of(operands[i]) != claim.left || value_of(operands[j]) != claim.right) continue;
      const bool same_sign = operands[i].sign == operands[j].sign;
      if (claim.operation == '+' ? same_sign : !same_sign && operands[i].sign > 0) return std::pair{i, j};
    }
  return std::nullopt;
}

std::optional<Claim> Context::next_arithmetic() const {
  const std::vector<Operand> left = operands();
  if (task_.ask != Ask::number || left.size() < 2) return std::nullopt;
  const int first = value_of(left[0]), second = value_of(left[1]);
  if (left[1].sign > 0) return Arithmetic{first, '+', second, first + second};
  return Arithmetic{first, '-', second, first - second};
}

StepLabel Context::judge(const Reading& claim) const {
  const std::optional<int> bar = bar_with(claim.color);
  if (!bar) return label(StepKind::perception, "there is no bar of that color");
  const int value = task_.bars[static_cast<std::size_t>(*bar)].value;
  const std::string wrong_because =
      value == claim.value ? "" : fmt::format("the {} bar is {}, not {}", color_name(task_, *bar), value, claim.value);
  return held_against(label(StepKind::perception, wrong_because), Reading{claim.color, value},
                      std::to_string(claim.value));
}

StepLabel Context::judge(const Extreme& claim) const {
  const Pick pick = claim.highest ? Pick::highest : Pick::lowest;
  const auto asked = [&](const Term& term) { return term.pick == pick; };
  if (std::none_of(task_.terms.begin(), task_.terms.end(), asked))
    return reasoning(fmt::format("the question is not about the {} bar", claim.highest ? "highest" : "lowest"));
  const std::optional<int> bar = bar_with(claim.color);
  if (!bar) return reasoning("there is no bar of that color");
  const int extreme = bar_of({1, pick, 0}, values_);
  const bool right = values_[static_cast<std::size_t>(*bar)] == values_[static_cast<std::size_t>(extreme)];
  const int color = right ? claim.color : task_.bars[static_cast<std::size_t>(extreme)].color;
  return held_against(reasoning(right ? "" : fmt::format("it is the {} bar", color_name(task_, extreme))),
                      Extreme{color, claim.highest}, color_word(claim.color));
}

StepLabel Context::judge(const Arithmetic& claim) const {
  const std::string said = std::to_string(claim.result);
  if (!joined(claim, operands()))
    return held_against(
        reasoning(fmt::format("the question does not lead to {} {} {}", claim.left, claim.operation, claim.right)),
        next_arithmetic(), said);
  const int result = claim.operation == '+' ? claim.left + claim.right : claim.left - claim.right;
  const std::string wrong_because =
      result == claim.result
          ? ""
          : fmt::format("{} {} {} is {}, not {}", claim.left, claim.operation, claim.right, result, claim.result);
  return held_against(reasoning(wrong_because), Arithmetic{claim.left, claim.operation, claim.right, result}, said);
}

StepLabel Context::judge(const Comparison& claim) const {
  if (task_.ask != Ask::higher && task_.ask != Ask::is_higher) return reasoning("the question compares no two bars");
  const int first = value_of(operands_[0]), second = value_of(operands_[1]);
  if (std::minmax(first, second) != std::minmax(claim.left, claim.right))
    return reasoning(fmt::format("the bars to compare are {} and {}", first, second));
  const bool holds = claim.relation == '<' ? claim.left < claim.right : claim.left > claim.right;
  return reasoning(holds ? "" : fmt::format("{} {} {} does not hold", claim.left, claim.relation, claim.right));
}

StepLabel Context::judge(const Selection& claim) const {
  if (!task_.condition) return reasoning("the question sets no condition");
  const int threshold = threshold_of(*task_.condition, values_);
  const char* const side = task_.condition->above ? "above" : "below";
  if (claim.above != task_.condition->above || claim.threshold != threshold)
    return reasoning(fmt::format("the bars wanted are those {} {}", side, threshold));
  Selection right{claim.above, claim.threshold, {}};
  for (const int bar : matching_bars(*task_.condition, values_))
    right.colors.push_back(task_.bars[static_cast<std::size_t>(bar)].color);
  std::vector<int> wanted = right.colors, named = claim.colors;
  std::sort(wanted.begin(), wanted.end());
  std::sort(named.begin(), named.end());
  StepLabel found =
      reasoning(wanted == named ? "" : fmt::format("{} bars are {} {}, not these", wanted.size(), side, threshold));
  // Lists are compared by their lengths: the typical mistake of a policy is to leave bars out or name them twice.
  found.truth = fmt::format("{}: {}", format_claim(right), wanted.size());
  found.claim = std::to_string(named.size());
  return found;
}

StepLabel Context::judge(const AnswerClaim& claim) const {
  const bool right = is_gold_answer(task_, claim.text);
  return held_against(reasoning(right ? "" : "the answer is " + gold_answer(task_)),
                      AnswerClaim{right ? claim.text : gold_answer(task_)}, claim.text);
}

void Context::accept(const Reading& claim) {
  if (const std::optional<int> bar = bar_with(claim.color)) values_[static_cast<std::size_t>(*bar)] = claim.value;
}

void Context::accept(const Extreme& claim) {
  if (const std::optional<int> bar = bar_with(claim.color)) (claim.highest ? highest_ : lowest_) = bar;
}

void Context::accept(const Arithmetic& claim) {
  std::vector<Operand> now = operands();
  const auto pair = joined(claim, now);
  if (!pair) return;
  now[pair->first] = {now[pair->first].sign, {}, claim.result};
  now.erase(now.begin() + static_cast<std::ptrdiff_t>(pair->second));
  operands_ = std::move(now);
  selected_ = true;
}

void Context::accept(const Selection& claim) {
  if (!task_.condition || task_.ask != Ask::number) return;
  operands_.clear();
  std::set<int> named;  // a bar counts once
  for (const int color : claim.colors)
    if (const std::optional<int> bar = bar_with(color); bar && named.insert(color).second)
      operands_.push_back({1, {1, Pick::named, *bar}, std::nullopt});
  selected_ = true;
}

std::vector<Claim> read_claims(const ChartTask& task, const Values& values) {
  std::vector<Claim> claims;
  const auto read = [&](int bar) {
    claims.push_back(Reading{task.bars[static_cast<std::size_t>(bar)].color, values[static_cast<std::size_t>(bar)]});
  };
  if (task.reads_every_bar())
    for (std::size_t bar = 0; bar < task.bars.size(); ++bar) read(static_cast<int>(bar));
  else
    for (const Term& term : task.terms) read(term.bar);
  return claims;
}

}  // namespace

std::vector<std::string> solve_chart(const ChartTask& task) {
  const Values values = true_values(task);
  std::vector<Claim> claims = read_claims(task, values);
  std::vector<std::pair<int, int>> summands;  // sign and value
  for (const Term& term : task.terms) {
    const std::size_t bar = static_cast<std::size_t>(bar_of(term, values));
    if (term.pick != Pick::named) claims.push_back(Extreme{task.bars[bar].color, term.pick == Pick::highest});
    summands.emplace_back(term.sign, values[bar]);
  }
  if (task.condition) {
    Selection selection{task.condition->above, threshold_of(*task.condition, values), {}};
    for (const int bar : matching_bars(*task.condition, values)) {
      selection.colors.push_back(task.bars[static_cast<std::size_t>(bar)].color);
      summands.emplace_back(1, values[static_cast<std::size_t>(bar)]);
    }
    claims.push_back(selection);
  }
  if (task.ask == Ask::higher || task.ask == Ask::is_higher)
    claims.push_back(
        Comparison{summands[0].second, summands[0].second < summands[1].second ? '<' : '>', summands[1].second});
  if (task.ask == Ask::number) {
    int total = summands[0].second;  // the first sign is + in every question
    for (std::size_t i = 1; i < summands.size(); ++i) {
      const auto [sign, value] = summands[i];
      claims.push_back(Arithmetic{total, sign > 0 ? '+' : '-', value, total + sign * value});
      total += sign * value;
    }
  }
  claims.push_back(AnswerClaim{gold_answer(task)});
  std::vector<std::string> steps;
  for (const Claim& claim : claims) steps.push_back(format_claim(claim));
  return steps;
}

bool is_gold_answer(const ChartTask& task, std::string_view answer) {
  const std::string gold = gold_answer(task);
  const bool number = task.ask == Ask::number || task.ask == Ask::count;
  return number ? number_match(answer, gold) : normalized_match(answer, gold);
}

std::optional<StepLabel> check_chart_step(const ChartTask& task, const StepQuery& query) {
  const std::optional<Claim> claim = parse_claim(query.step);
  if (!claim) return std::nullopt;
  Context context(task);
  for (const Span& span : split_steps(query.before)) {
    const std::optional<Claim> earlier = parse_claim(span.of(query.before));
    if (earlier == claim) break;  // repeated: judged as at the first time
    if (earlier) std::visit([&](const auto& alternative) { context.accept(alternative); }, *earlier);
  }
  return std::visit([&](const auto& alternative) { return context.judge(alternative); }, *claim);
}

}  // namespace agon::env
