#include "record/run_kind.h"

#include "record/run_reader.h"
#include "record/run_schema.h"

namespace agon::record {

// Tells kinds apart by keys that all their configs have, those of earlier agon versions too. Self-play also has
// "sources".
RunKind run_kind_of(const Json& config) {
  if (config.contains("search_version")) return RunKind::search;
  if (config.contains("sneaky")) return RunKind::self_play;
  if (config.contains("preferences")) return RunKind::preferences;
  if (config.contains("sources")) return RunKind::training;
  return RunKind::episodes;
}

std::optional<RunKind> run_kind_in(const std::filesystem::path& folder) {
  if (std::filesystem::exists(folder / kRunDatabase)) return run_kind_of(RunReader::open(folder)->config());
  if (std::filesystem::exists(folder / kTrainingLog)) return RunKind::training_log;
  return std::nullopt;
}

}  // namespace agon::record
