// record/run_kind.h - tells what kind of run a folder written by agon holds.
#pragma once

#include <filesystem>
#include <optional>

#include "core/json.h"

namespace agon::record {

enum class RunKind {
  episodes,      // agon run, eval, decompose: tasks that a policy played
  search,        // agon search: per task its journal and one episode
  training,      // agon train: metrics by step, and episodes of some steps
  self_play,     // agon selfplay: games, and metrics by round
  preferences,   // agon make-preferences: ranked responses
  training_log,  // not a run: kTrainingLog, written by agon train-sft, train-rm and the training runs within self-play
};
inline constexpr const char* kTrainingLog = "train.jsonl";

// The kind of a run, from its config; never training_log.
RunKind run_kind_of(const Json& config);
// The kind of a folder. Nothing: it holds neither a run nor a training log. Throws Error for a run that cannot be read.
std::optional<RunKind> run_kind_in(const std::filesystem::path& folder);

}  // namespace agon::record
