// env/suites/charts/task.h - a task of the suite charts: the bars, the question about them and its gold answer. A
// question is a signed sum of terms, a comparison of two terms, or a condition that bars meet.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/rng.h"
#include "env/grading/box.h"

namespace agon::env {

struct Bar {
  int color = 0;  // index in palette()
  int value = 0;  // 1..9
};

enum class Pick { named, highest, lowest };
struct Term {
  int sign = 1;
  Pick pick = Pick::named;
  int bar = 0;  // index of the named bar
};

// The bars above (or below) a number, or above (below) the value of a bar.
struct Condition {
  bool above = true;
  int threshold = 0;
  std::optional<int> than;  // the bar whose value is the threshold
};

enum class Ask {
  number,     // the sum of the terms; with a condition, of the bars that meet it
  color,      // the color of the bar that the first term picks
  higher,     // which of two terms is higher
  is_higher,  // is the first of two terms higher: yes or no
  count       // how many bars meet the condition
};

struct ChartTask {
  std::string kind;  // "sum", "count_above", ...
  std::string prompt;
  std::vector<Bar> bars;  // left to right
  Ask ask = Ask::number;
  std::vector<Term> terms;
  std::optional<Condition> condition;
  int shift = 0;  // of all bars to the right, in pixels

  bool reads_every_bar() const;  // the question cannot be answered from the named bars alone
  std::string content() const;   // equal for tasks that differ only in wording and shift
};

inline constexpr int kChartLevels = 3;
inline constexpr int kChartSide = 112;  // pixels

inline constexpr int kMaxValue = 9;  // of a bar

ChartTask draw_chart_task(int level, Rng& rng);
// Whether the task has only one interpretation, names no bar twice (by its color and as the highest) and has no
// negative result.
bool well_posed(const ChartTask& task);
Box bar_box(const ChartTask& task, int bar);  // pixels

// The value of each bar: the true one, or as somebody has read it.
using Values = std::vector<int>;
Values true_values(const ChartTask& task);
int bar_of(const Term& term, const Values& values);  // ties: the first
int threshold_of(const Condition& condition, const Values& values);
std::vector<int> matching_bars(const Condition& condition, const Values& values);

std::string color_name(const ChartTask& task, int bar);
std::string gold_answer(const ChartTask& task);

}  // namespace agon::env
