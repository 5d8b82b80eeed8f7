#include "agents/learn/data/train_source.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "env/wrappers/role.h"

namespace agon::agents {
namespace {

// level 0 is not part of the name.
std::string label_of(const env::Suite& suite, int level) {
  const env::SuiteOptions& options = suite.options();
  std::string name = suite.name();
  if (level) name += fmt::format("-{}", level);
  if (options.role != env::kSolver) name += "-" + options.role;
  return options.two_turn ? name + "-two-turn" : name;
}

}  // namespace

std::string TrainSource::label() const { return label_of(suite, level); }

std::vector<std::pair<std::string, const TrainSource*>> evaluated_sources(const std::vector<TrainSource>& sources) {
  std::map<std::string, std::set<std::string>> texts;  // 'reexamine' of the tasks of each label, its level resolved
  std::vector<std::pair<std::string, const TrainSource*>> result;
  for (const TrainSource& source : sources) {
    auto& known = texts[label_of(source.suite, source.suite.options().level)];
    if (!known.insert(source.suite.options().reexamine).second) continue;
    result.emplace_back(known.size() > 1 ? fmt::format("{}-{}", source.label(), known.size()) : source.label(),
                        &source);
  }
  return result;
}

}  // namespace agon::agents
