#include "env/suites/charts/task.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "env/kit/draw.h"

namespace agon::env {
namespace {

constexpr int kBaseline = 106, kUnit = 11;      // y of value 0; pixels of one unit
constexpr int kPlotLeft = 12, kPlotWidth = 98;  // pixels
constexpr int kMaxBarWidth = 22;

enum class Conditioned { no, above, below, higher_than, lower_than };

// A class of questions. Placeholders of its phrases: {a} {b} {c} the named bars in the order of the terms, {n} the
// threshold.
struct Recipe {
  std::string kind;
  Ask ask;
  std::vector<Term> terms;
  Conditioned conditioned;
  std::array<int, kChartLevels> weights;  // how often, by level
  std::vector<std::string> phrases;
};

const std::vector<Recipe>& recipes() {
  constexpr Term plus{1, Pick::named}, minus{-1, Pick::named}, highest{1, Pick::highest}, lowest{1, Pick::lowest};
  constexpr Term minus_lowest{-1, Pick::lowest};
  using enum Ask;
  using enum Conditioned;
  static const std::vector<Recipe> kRecipes{
      {"value", number, {plus}, no, {3, 0, 0}, {"What is {a}?", "How high is {a}?"}},
      {"sum", number, {plus, plus}, no, {3, 3, 1}, {"What is {a} plus {b}?", "Add {a} and {b}."}},
      {"difference",
       number,
       {plus, minus},
       no,
       {3, 3, 1},
       {"What is {a} minus {b}?", "How much higher is {a} than {b}?"}},
      {"highest", color, {highest}, no, {1, 1, 1}, {"Which bar is highest?"}},
      {"lowest", color, {lowest}, no, {1, 1, 1}, {"Which bar is lowest?"}},
      {"highest_value",
       number,
       {highest},
       no,
       {1, 1, 0},
       {"How high is the highest bar?", "What is the highest value?"}},
      {"lowest_value", number, {lowest}, no, {1, 1, 0}, {"How high is the lowest bar?", "What is the lowest value?"}},
      {"compare", higher, {plus, plus}, no, {1, 1, 0}, {"Which is higher, {a} or {b}?"}},
      {"is_higher", is_higher, {plus, plus}, no, {0, 1, 0}, {"Is {a} higher than {b}?"}},
      {"count_above", count, {}, above, {0, 2, 2}, {"How many bars are above {n}?", "Count the bars above {n}."}},
      {"count_below", count, {}, below, {0, 2, 2}, {"How many bars are below {n}?", "Count the bars below {n}."}},
      {"count_higher", count, {}, higher_than, {0, 0, 2}, {"How many bars are higher than {a}?"}},
      {"count_lower", count, {}, lower_than, {0, 0, 2}, {"How many bars are lower than {a}?"}},
      {"sum_of_three",
       number,
       {plus, plus, plus},
       no,
       {0, 1, 2},
       {"What is {a} plus {b} plus {c}?", "Add {a}, {b} and {c}."}},
      {"plus_minus", number, {plus, plus, minus}, no, {0, 2, 2}, {"What is {a} plus {b} minus {c}?"}},
      {"range",
       number,
       {highest, minus_lowest},
       no,
       {0, 2, 2},
       {"What is the highest minus the lowest?", "How much higher is the highest bar than the lowest?"}},
      {"highest_plus",
       number,
       {highest, plus},
       no,
       {0, 1, 2},
       {"What is the highest plus {a}?", "Add the highest and {a}."}},
      {"minus_lowest", number, {plus, minus_lowest}, no, {0, 0, 2}, {"What is {a} minus the lowest?"}},
      {"sum_above",
       number,
       {},
       above,
       {0, 0, 2},
       {"What is the sum of the bars above {n}?", "Add the bars above {n}."}},
  };
  return kRecipes;
}

const Recipe& draw_recipe(int level, Rng& rng) {
  const auto weight = [&](const Recipe& recipe) { return recipe.weights[static_cast<std::size_t>(level - 1)]; };
  int total = 0;
  for (const Recipe& recipe : recipes()) total += weight(recipe);
  int left = rng.between(0, total - 1);
  for (const Recipe& recipe : recipes())
    if ((left -= weight(recipe)) < 0) return recipe;
  return recipes().back();
}

std::vector<Bar> draw_bars(int level, Rng& rng) {
  static constexpr std::array<std::pair<int, int>, kChartLevels> kCounts{{{2, 3}, {4, 6}, {6, 8}}};
  const auto [fewest, most] = kCounts[static_cast<std::size_t>(level - 1)];
  std::vector<int> colors(palette().size());
  std::iota(colors.begin(), colors.end(), 0);
  rng.shuffle(colors);
  std::vector<Bar> bars(static_cast<std::size_t>(rng.between(fewest, most)));
  for (std::size_t i = 0; i < bars.size(); ++i) bars[i] = {colors[i], rng.between(1, kMaxValue)};
  return bars;
}

// Binds the recipe's terms and condition to bars; returns the bars in the order of the placeholders.
std::vector<int> bind(const Recipe& recipe, ChartTask& task, Rng& rng) {
  std::vector<int> order(task.bars.size());
  std::iota(order.begin(), order.end(), 0);
  rng.shuffle(order);
  std::size_t next = 0;
  task.terms = recipe.terms;
  for (Term& term : task.terms)
    if (term.pick == Pick::named) term.bar = order[next++];
  if (recipe.conditioned != Conditioned::no) {
    Condition condition;
    condition.above = recipe.conditioned == Conditioned::above || recipe.conditioned == Conditioned::higher_than;
    if (recipe.conditioned == Conditioned::above || recipe.conditioned == Conditioned::below)
      condition.threshold = rng.between(2, kMaxValue - 1);
    else
      condition.than = order[next++];
    task.condition = condition;
  }
  order.resize(next);
  return order;
}

int total_of(const ChartTask& task, const Values& values) {
  int total = 0;
  for (const Term& term : task.terms) total += term.sign * values[static_cast<std::size_t>(bar_of(term, values))];
  if (task.condition)
    for (int bar : matching_bars(*task.condition, values)) total += values[static_cast<std::size_t>(bar)];
  return total;
}

std::string phrase(const Recipe& recipe, const ChartTask& task, const std::vector<int>& named, Rng& rng) {
  const auto name = [&](std::size_t i) { return i < named.size() ? color_name(task, named[i]) : std::string(); };
  return fmt::format(fmt::runtime(rng.pick(recipe.phrases)), fmt::arg("a", name(0)), fmt::arg("b", name(1)),
                     fmt::arg("c", name(2)), fmt::arg("n", task.condition ? task.condition->threshold : 0));
}

}  // namespace

bool ChartTask::reads_every_bar() const {
  return condition ||
         std::any_of(terms.begin(), terms.end(), [](const Term& term) { return term.pick != Pick::named; });
}

std::string ChartTask::content() const {
  std::string text = kind;
  const auto add = [&](int number) { text += static_cast<char>('0' + number); };
  for (const Bar& bar : bars) add(bar.color), add(bar.value);
  for (const Term& term : terms) add(term.bar);
  if (condition) add(condition->threshold), add(condition->than.value_or(0));
  return text;
}

bool well_posed(const ChartTask& task) {
  const Values values = true_values(task);
  std::vector<int> bars;
  for (const Term& term : task.terms) {
    const int bar = bar_of(term, values);
    if (term.pick != Pick::named && std::count(values.begin(), values.end(), values[static_cast<std::size_t>(bar)]) > 1)
      return false;
    if (std::find(bars.begin(), bars.end(), bar) != bars.end()) return false;
    bars.push_back(bar);
  }
  if (task.ask == Ask::higher || task.ask == Ask::is_higher)
    return values[static_cast<std::size_t>(bars[0])] != values[static_cast<std::size_t>(bars[1])];
  if (task.ask != Ask::number) return true;
  if (task.condition) {
    const std::size_t matching = matching_bars(*task.condition, values).size();
    return matching == 2 || matching == 3;
  }
  return total_of(task, values) > 0;
}

ChartTask draw_chart_task(int level, Rng& rng) {
  const Recipe& recipe = draw_recipe(level, rng);
  ChartTask task;
  task.kind = recipe.kind;
  task.ask = recipe.ask;
  std::vector<int> named;
  do {
    task.bars = draw_bars(level, rng);
    named = bind(recipe, task, rng);
  } while (!well_posed(task));
  task.shift = rng.between(-1, 1);
  task.prompt = phrase(recipe, task, named, rng);
  return task;
}

Box bar_box(const ChartTask& task, int bar) {
  const double pitch = double(kPlotWidth) / double(task.bars.size());
  const double width = std::min<double>(std::floor(pitch * 0.65), kMaxBarWidth);
  const double left = std::floor(kPlotLeft + pitch * bar + (pitch - width) / 2) + task.shift;
  const int value = task.bars[static_cast<std::size_t>(bar)].value;
  return {left, double(kBaseline - kUnit * value), left + width, double(kBaseline)};
}

Values true_values(const ChartTask& task) {
  Values values;
  for (const Bar& bar : task.bars) values.push_back(bar.value);
  return values;
}

int bar_of(const Term& term, const Values& values) {
  if (term.pick == Pick::named) return term.bar;
  const auto found = term.pick == Pick::highest ? std::max_element(values.begin(), values.end())
                                                : std::min_element(values.begin(), values.end());
  return static_cast<int>(found - values.begin());
}

int threshold_of(const Condition& condition, const Values& values) {
  return condition.than ? values[static_cast<std::size_t>(*condition.than)] : condition.threshold;
}

std::vector<int> matching_bars(const Condition& condition, const Values& values) {
  const int threshold = threshold_of(condition, values);
  std::vector<int> bars;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (condition.above ? values[i] > threshold : values[i] < threshold) bars.push_back(static_cast<int>(i));
  return bars;
}

std::string color_name(const ChartTask& task, int bar) {
  return std::string(palette()[static_cast<std::size_t>(task.bars[static_cast<std::size_t>(bar)].color)].name);
}

std::string gold_answer(const ChartTask& task) {
  const Values values = true_values(task);
  const auto higher = [&] { return values[std::size_t(task.terms[0].bar)] > values[std::size_t(task.terms[1].bar)]; };
  switch (task.ask) {
    case Ask::number:
      return std::to_string(total_of(task, values));
    case Ask::color:
      return color_name(task, bar_of(task.terms[0], values));
    case Ask::higher:
      return color_name(task, task.terms[higher() ? 0 : 1].bar);
    case Ask::is_higher:
      return higher() ? "yes" : "no";
    case Ask::count:
      return std::to_string(matching_bars(*task.condition, values).size());
  }
  return {};
}

}  // namespace agon::env
