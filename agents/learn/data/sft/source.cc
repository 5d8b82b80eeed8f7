#include "agents/learn/data/sft/source.h"

#include <algorithm>

namespace agon::agents {

std::uint64_t DemonstrationConfig::first_task(std::size_t index) const {
  constexpr std::uint64_t kTasks = std::uint64_t{1} << 32;  // per source: more than a training run uses
  const env::Suite& own = sources[index].suite;
  const auto alike =
      std::count_if(sources.begin(), sources.begin() + static_cast<std::ptrdiff_t>(index), [&](const SftSource& other) {
        return other.suite.name() == own.name() && other.suite.options().level == own.options().level;
      });
  return static_cast<std::uint64_t>(alike) * kTasks;
}

}  // namespace agon::agents
