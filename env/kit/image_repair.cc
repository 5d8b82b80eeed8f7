#include "env/kit/image_repair.h"

#include <fmt/format.h>

#include <utility>

#include "core/rng.h"
#include "env/kit/suite_task.h"
#include "tools/python_tool.h"

namespace agon::env {

std::vector<std::shared_ptr<tools::Tool>> mending_tools(Baseline baseline, const std::string& task_id) {
  if (baseline != Baseline::none) return {};
  tools::PythonToolOptions options{.most_bytes = 400};
  options.seed = Rng::derive(0, "python", task_id)();
  return {tools::make_python_tool(tools::Interpreters::of_process(), options)};
}

StepResult run_code(const ToolCall& call, EpisodeTools& tools) {
  tools::ToolResult called = tools.call(call);
  StepResult result;
  if (called.error)
    result.observation.parts.push_back(Part::of("Failed.\n" + called.error->message));
  else
    result.observation.parts = std::move(called.parts);
  return result;
}

StepResult answer_problem(const std::optional<std::string>& problem) {
  if (!problem)
    return refused_step("Write <problem>{'dark'}</problem>, <code>...</code> or <answer>...</answer> in a turn.");
  const auto defects = parse_defects(*problem);
  if (!defects)
    return refused_step("<problem> takes rotation90, rotation180, dark, overexposure, blur, noise, crop, none.");
  StepResult result;
  result.observation.parts.push_back(Part::of(tips_for(*defects)));
  return result;
}

std::string tips_for(const Defects& defects) {
  if (defects.empty()) return "<tips>Nothing is to be mended. Answer the question.</tips>";
  if (defects == Defects{Defect::crop}) return "<tips>Cut the region out of the picture with code.</tips>";
  std::string names;
  for (const Defect defect : defects) names += fmt::format("{}{}", names.empty() ? "" : ", ", to_string(defect));
  return fmt::format("<tips>Write code that mends the picture: {}.</tips>", names);
}

}  // namespace agon::env
