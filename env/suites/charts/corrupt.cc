// corrupt_chart_step changes a claim of a right step in one way, and draws again if the result is still right.
// misread_chart changes the bars; the question is then answered about the changed bars.
#include "env/suites/charts/corrupt.h"

#include <algorithm>
#include <utility>

#include "env/kit/draw.h"
#include "env/protocol.h"
#include "env/suites/charts/claims.h"
#include "env/suites/charts/steps.h"

namespace agon::env {
namespace {

constexpr int kAttempts = 16;

int result_of(const Arithmetic& claim) {
  return claim.operation == '+' ? claim.left + claim.right : claim.left - claim.right;
}

// A nearby number, at least `least`: mostly one off, sometimes two.
int nudged(int value, int least, Rng& rng) {
  const int distance = rng.chance(0.75) ? 1 : 2;
  return value - distance >= least && rng.chance(0.5) ? value - distance : value + distance;
}

class Corrupter {
 public:
  Corrupter(const ChartTask& task, ErrorKind kind, Rng& rng) : task_(task), kind_(kind), rng_(rng) {}

  std::optional<Claim> operator()(Reading claim) {
    if (kind_ == ErrorKind::misread_value)
      claim.value = nudged(claim.value, 1, rng_);
    else if (kind_ == ErrorKind::wrong_object)
      (rng_.chance(0.5) ? claim.value = any_bar().value : claim.color = any_bar().color);
    else
      return jump();
    return claim;
  }

  std::optional<Claim> operator()(Extreme claim) {
    if (kind_ == ErrorKind::wrong_object)
      claim.color = any_bar().color;
    else if (kind_ == ErrorKind::wrong_condition)
      claim = {any_bar().color, !claim.highest};
    else
      return jump();
    return claim;
  }

  std::optional<Claim> operator()(Arithmetic claim) {
    int& operand = rng_.chance(0.5) ? claim.left : claim.right;
    if (kind_ == ErrorKind::calculation) {
      claim.result = nudged(claim.result, 0, rng_);
      return claim;
    }
    if (kind_ == ErrorKind::misread_value)
      operand = nudged(operand, 1, rng_);
    else if (kind_ == ErrorKind::wrong_object)
      operand = any_bar().value;
    else if (kind_ == ErrorKind::wrong_condition)
      claim.operation = claim.operation == '+' ? '-' : '+';
    else
      return jump();
    if (claim.operation == '-' && claim.left < claim.right) std::swap(claim.left, claim.right);
    claim.result = result_of(claim);
    return claim;
  }

  std::optional<Claim> operator()(Comparison claim) {
    int& operand = rng_.chance(0.5) ? claim.left : claim.right;
    if (kind_ == ErrorKind::misread_value)
      operand = nudged(operand, 1, rng_);
    else if (kind_ == ErrorKind::wrong_object)
      operand = any_bar().value;
    else if (kind_ == ErrorKind::wrong_condition)
      std::swap(claim.left, claim.right);
    else
      return jump();
    if (kind_ != ErrorKind::wrong_condition) claim.relation = claim.left < claim.right ? '<' : '>';
    return claim;
  }

  std::optional<Claim> operator()(Selection claim) {
    if (kind_ == ErrorKind::wrong_condition) {
      if (!claim.colors.empty() && rng_.chance(0.5))  // skips a bar that meets it
        claim.colors.erase(claim.colors.begin() + rng_.between(0, static_cast<int>(claim.colors.size()) - 1));
      else
        claim = opposite(claim);
      return claim;
    }
    if (kind_ != ErrorKind::wrong_object) return jump();
    std::vector<int> others;
    for (const Bar& bar : task_.bars)
      if (std::find(claim.colors.begin(), claim.colors.end(), bar.color) == claim.colors.end())
        others.push_back(bar.color);
    if (others.empty()) return std::nullopt;
    if (claim.colors.empty()) return Selection{claim.above, claim.threshold, {rng_.pick(others)}};
    claim.colors[static_cast<std::size_t>(rng_.between(0, static_cast<int>(claim.colors.size()) - 1))] =
        rng_.pick(others);
    return claim;
  }

  std::optional<Claim> operator()(const AnswerClaim&) {
    const bool number = task_.ask == Ask::number || task_.ask == Ask::count;
    if (kind_ == ErrorKind::calculation && number) return wrong_answer();
    if (kind_ == ErrorKind::wrong_object && (task_.ask == Ask::color || task_.ask == Ask::higher))
      return wrong_answer();
    if (kind_ == ErrorKind::wrong_condition && task_.ask == Ask::is_higher) return wrong_answer();
    return std::nullopt;
  }

 private:
  const Bar& any_bar() { return rng_.pick(task_.bars); }

  // The bars on the other side of the threshold.
  Selection opposite(const Selection& claim) const {
    Selection other{!claim.above, claim.threshold, {}};
    const Condition condition{other.above, claim.threshold, std::nullopt};
    for (const int bar : matching_bars(condition, true_values(task_)))
      other.colors.push_back(task_.bars[static_cast<std::size_t>(bar)].color);
    return other;
  }

  AnswerClaim wrong_answer() {
    const std::string gold = gold_answer(task_);
    if (task_.ask == Ask::is_higher) return {gold == "yes" ? "no" : "yes"};
    if (task_.ask == Ask::number || task_.ask == Ask::count) return {std::to_string(nudged(std::stoi(gold), 0, rng_))};
    return {std::string(palette()[static_cast<std::size_t>(any_bar().color)].name)};
  }

  // A wrong answer in place of the step that should lead to it.
  std::optional<Claim> jump() {
    if (kind_ != ErrorKind::unjustified_jump) return std::nullopt;
    return wrong_answer();
  }

  const ChartTask& task_;
  ErrorKind kind_;
  Rng& rng_;
};

// All well-posed charts with another answer in which one bar is misread by up to `farthest`, or two bars are swapped.
std::vector<ChartTask> misreadings(const ChartTask& task, int farthest) {
  std::vector<ChartTask> charts;
  for (std::size_t bar = 0; bar < task.bars.size(); ++bar) {
    for (int value = std::max(1, task.bars[bar].value - farthest);
         value <= std::min(kMaxValue, task.bars[bar].value + farthest); ++value)
      charts.emplace_back(task).bars[bar].value = value;
    for (std::size_t other = bar + 1; other < task.bars.size(); ++other) {
      ChartTask& mixed_up = charts.emplace_back(task);
      std::swap(mixed_up.bars[bar].value, mixed_up.bars[other].value);
    }
  }
  std::erase_if(charts, [&](const ChartTask& misread) {
    return !well_posed(misread) || is_gold_answer(task, gold_answer(misread));
  });
  return charts;
}

}  // namespace

std::optional<ChartTask> misread_chart(const ChartTask& task, Rng& rng) {
  constexpr int kNear = 2;
  std::vector<ChartTask> charts = misreadings(task, kNear);
  if (charts.empty()) charts = misreadings(task, kMaxValue);  // a count whose bars are far from its threshold
  return charts.empty() ? std::nullopt : std::optional(rng.pick(charts));
}

std::vector<std::string> solve_chart_wrongly(const ChartTask& task, Rng& rng) {
  if (const std::optional<ChartTask> misread = misread_chart(task, rng)) return solve_chart(*misread);
  std::vector<std::string> steps = solve_chart(task);
  const auto wrong = corrupt_chart_step(task, {{}, steps.back()}, ErrorKind::calculation, rng);
  if (!wrong) return {};
  steps.back() = *wrong;
  return steps;
}

std::optional<std::string> corrupt_chart_step(const ChartTask& task, const StepQuery& query, ErrorKind kind, Rng& rng) {
  const std::optional<Claim> claim = parse_claim(query.step);
  if (!claim) return std::nullopt;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::optional<Claim> changed = std::visit(Corrupter(task, kind, rng), *claim);
    if (!changed) return std::nullopt;
    std::string step = format_claim(*changed);
    const std::optional<StepLabel> verdict = check_chart_step(task, {query.before, step});
    if (verdict && !verdict->correct) return step;
  }
  return std::nullopt;
}

}  // namespace agon::env
