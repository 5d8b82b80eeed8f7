#include "env/suites/charts/picture.h"

#include <algorithm>
#include <utility>

#include "env/kit/draw.h"

namespace agon::env {
namespace {

// Grid lines at 1..9 with their numbers: the same background for every chart.
Image draw_paper() {
  static constexpr Color kWhite{255, 255, 255}, kGrid{222, 222, 222}, kAxis{70, 70, 70};
  Canvas canvas(kChartSide, kChartSide, kWhite);
  ChartTask ruler;
  ruler.bars.resize(1);
  for (int value = 0; value <= 9; ++value) {
    ruler.bars[0].value = value;
    const double y = bar_box(ruler, 0).y1;
    canvas.rectangle({10, y, double(kChartSide) - 1, y + 1}, value == 0 ? kAxis : kGrid);
    canvas.rectangle({8, y, 10, y + 1}, kAxis);
    if (value > 0) canvas.text({1, y + 3}, std::to_string(value), 6, kAxis);
  }
  canvas.rectangle({10, 4, 11, bar_box(ruler, 0).y2}, kAxis);
  return std::move(canvas).image();
}

}  // namespace

Image draw_chart(const ChartTask& task) {
  static const Image kPaper = draw_paper();
  Canvas canvas(kPaper);
  for (std::size_t bar = 0; bar < task.bars.size(); ++bar)
    canvas.rectangle(bar_box(task, static_cast<int>(bar)),
                     palette()[static_cast<std::size_t>(task.bars[bar].color)].color);
  return std::move(canvas).image();
}

Json chart_objects(const ChartTask& task) {
  Json objects = Json::array();
  for (std::size_t bar = 0; bar < task.bars.size(); ++bar) {
    const Box box = bar_box(task, static_cast<int>(bar));
    objects.push_back(
        {{"name", "bar " + color_name(task, static_cast<int>(bar))}, {"box", {box.x1, box.y1, box.x2, box.y2}}});
  }
  return objects;
}

std::vector<std::string> chart_object_names() {
  std::vector<std::string> names;
  for (const NamedColor& color : palette()) names.push_back("bar " + std::string(color.name));
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace agon::env
