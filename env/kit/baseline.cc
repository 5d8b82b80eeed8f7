#include "env/kit/baseline.h"

#include <algorithm>
#include <array>

#include "core/error.h"
#include "core/text.h"

namespace agon::env {

Baseline baseline_from(const std::string& name) {
  static const std::vector<std::string> kNames{"", "direct", "cot", "rag"};
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end())
    throw Error("{}", unknown_name_message("baseline", name, {kNames.begin() + 1, kNames.end()}));
  return static_cast<Baseline>(found - kNames.begin());
}

std::string baseline_instructions(Baseline baseline) {
  if (baseline == Baseline::none) return "";
  if (baseline == Baseline::direct) return "Answer at once: <answer>...</answer>.";
  return "Think in <think></think>. Then <answer>...</answer>.";
}

}  // namespace agon::env
