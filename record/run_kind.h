// record/run_kind.h - tells what kind of run a folder written by agon holds.
#pragma once

#include <filesystem>
#include <optional>

#include "core/json.h"

namespace agon::record {

enum class RunKind {
  episodes,      // of tasks that a policy played: agon run, eval, decompose
  search,        // of tasks: agon search; their journals, and an episode of each
  training,      // agon train: metrics by step, and episodes of some steps
  self_play,     // agon selfplay: games, and metrics by round
  preferences,   // agon make-preferences: ranked responses
  training_log,  // no run: kTrainingLog, which agon train-sft, train-rm and the trainings within self-play leave
};
inline constexpr const char* kTrainingLog = "train.jsonl";

// Of a run, by its config; never training_log.
RunKind run_kind_of(const Json& config);
// Of a folder. Nothing: it holds neither a run nor the log of a training. Throws Error for a run that cannot be read.
std::optional<RunKind> run_kind_in(const std::filesystem::path& folder);

}  // namespace agon::record
