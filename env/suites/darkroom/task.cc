#include "env/suites/darkroom/task.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/text.h"
#include "env/grading/box_text.h"
#include "env/kit/suite_task.h"
#include "env/kit/tool_env.h"
#include "env/protocol.h"
#include "env/suites/charts/picture.h"

namespace agon::env {
namespace {

constexpr double kUncut = 40;    // a page is farther from the chart than its region by this
constexpr double kBetter = 0.9;  // a right step leaves less than this share of the distance
constexpr double kSame = 0.5;    // least correlation of a picture that shows the chart

// A picture may have defects of two groups, one of each.
const std::vector<std::vector<Defect>>& groups() {
  static const std::vector<std::vector<Defect>> kGroups{{Defect::crop},
                                                        {Defect::dark, Defect::overexposure},
                                                        {Defect::noise},
                                                        {Defect::blur},
                                                        {Defect::rotation90, Defect::rotation180}};
  return kGroups;
}

Defects draw_defects(int level, Rng& rng) {
  if (level == 1) {
    const int choice = rng.between(0, kDefects);
    return choice == kDefects ? Defects{} : Defects{static_cast<Defect>(choice)};
  }
  std::vector<std::vector<Defect>> chosen = groups();
  rng.shuffle(chosen);
  return {rng.pick(chosen[0]), rng.pick(chosen[1])};
}

// The same bars with other values, in another order, so that the question fits them too.
ChartTask look_alike(const ChartTask& task, Rng& rng) {
  ChartTask other = task;
  rng.shuffle(other.bars);
  for (Bar& bar : other.bars) bar.value = rng.between(1, kMaxValue);
  return other;
}

constexpr std::array<std::string_view, kDefects> kPhrases{"too large", "too dark",          "too bright", "noisy",
                                                          "blurred",   "on its right side", "upside down"};
constexpr std::string_view kFine = "fine";

bool is_page(const DarkroomTask& task, const Image& picture) {
  return task.defects.count(Defect::crop) && picture.width() == task.shown.picture.width() &&
         picture.height() == task.shown.picture.height();
}

bool same_size(const Image& a, const Image& b) { return a.width() == b.width() && a.height() == b.height(); }

Json turned_objects(Json objects, int quarters) {
  for (Json& object : objects)
    for (int turn = 0; turn < quarters; ++turn) {
      const Json box = object["box"];
      const auto at = [&](std::size_t corner) { return box[corner].get<double>(); };
      object["box"] = {kChartSide - at(3), at(0), kChartSide - at(1), at(2)};
    }
  return objects;
}

}  // namespace

DarkroomTask draw_darkroom_task(int level, Split split, Rng& rng) {
  DarkroomTask task;
  task.chart = draw_task(
      rng, split, [level](Rng& stream) { return draw_chart_task(level, stream); },
      [](const ChartTask& chart) { return chart.content(); });
  task.defects = draw_defects(level, rng);
  task.clean = draw_chart(task.chart);
  std::vector<Image> others;
  for (int i = 0; i < 3; ++i) others.push_back(draw_chart(look_alike(task.chart, rng)));
  task.shown = degrade(task.clean, others, task.defects, rng);
  task.kind = kind_of(task.defects);
  task.prompt = task.chart.prompt;
  if (task.defects.count(Defect::crop))
    task.prompt = fmt::format("In the region {}: {}", format_box(task.shown.region), task.prompt);
  return task;
}

double distance_from_clean(const DarkroomTask& task, const Image& picture) {
  if (is_page(task, picture)) return kUncut + mean_difference(cut_out(picture, task.shown.region), task.clean);
  return same_size(picture, task.clean) ? mean_difference(picture, task.clean) : 255;
}

bool mends(const DarkroomTask& task, const Image& before, const Image& after) {
  return distance_from_clean(task, after) < kBetter * distance_from_clean(task, before);
}

Json darkroom_objects(const DarkroomTask& task, const Image& picture) {
  if (!same_size(picture, task.clean)) return Json::array();
  int best = 0;
  std::array<double, 4> alike{};
  for (int quarters = 0; quarters < 4; ++quarters) {
    alike[static_cast<std::size_t>(quarters)] = correlation(picture, turned(task.clean, quarters));
    if (alike[static_cast<std::size_t>(quarters)] > alike[static_cast<std::size_t>(best)]) best = quarters;
  }
  if (alike[static_cast<std::size_t>(best)] < kSame) return Json::array();
  return turned_objects(chart_objects(task.chart), best);
}

std::string describe_defects(const Defects& defects) {
  std::string phrases;
  for (const Defect defect : defects)
    phrases += fmt::format("{}{}", phrases.empty() ? "" : " and ", kPhrases[static_cast<std::size_t>(defect)]);
  return fmt::format("The picture is {}.", phrases.empty() ? kFine : phrases);
}

std::optional<Defects> parse_description_of_defects(std::string_view sentence) {
  constexpr std::string_view kStart = "The picture is ";
  if (!sentence.starts_with(kStart) || !sentence.ends_with('.')) return std::nullopt;
  const std::string_view phrases = sentence.substr(kStart.size(), sentence.size() - kStart.size() - 1);
  if (phrases == kFine) return Defects();
  Defects defects;
  for (const std::string& phrase : split(phrases, " and ")) {
    const auto found = std::find(kPhrases.begin(), kPhrases.end(), phrase);
    if (found == kPhrases.end()) return std::nullopt;
    defects.insert(static_cast<Defect>(found - kPhrases.begin()));
  }
  return defects;
}

std::string naming_turn(const Defects& defects) {
  return thought(describe_defects(defects), wrap(Tag::problem, format_defects(defects)));
}

std::string mending_turn(const DarkroomTask& task, const Defects& defects) {
  std::string code = "import cv2\np = cv2.imread('path_to_input_image.jpg')\n";
  for (const Defect defect : defects) code += mending_code(defect, task.shown.region) + "\n";
  code += "cv2.imwrite('path_to_output_image.jpg', p)\n";
  return thought(describe_defects(defects), wrap(Tag::code, fmt::format("\n```python\n{}```\n", code)));
}

std::string answering_turn(const std::vector<std::string>& steps) {
  return thought(joined_steps({steps.begin(), steps.end() - 1}), steps.back());
}

}  // namespace agon::env
