// critic/self_play/rounds.h - runs rounds of self-play as in SPC (arXiv 2504.19162): in each round the generator and
// the critic play games, then both learn from them offline.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agents/learn/loop/offline.h"
#include "core/json.h"
#include "critic/self_play/config.h"

namespace agon::critic {

// How players are loaded and trained. teach: as agents::train_offline.
struct ModelWorkshop {
  std::function<std::unique_ptr<agents::Policy>(const std::filesystem::path& model)> open;
  std::function<bool(const agents::OfflineConfig& config, const std::vector<agents::OfflineSample>& samples,
                     const std::atomic<bool>& stop)>
      teach;
};
ModelWorkshop local_workshop();  // opens model folders and servers; trains models on this machine

// Plays and trains every round that `output` does not hold yet. Each game is recorded in its run.sqlite as it is played
// (a journal of one entry, kind "game"); models go to output/round-N/critic and output/round-N/sneaky. A run that was
// stopped or killed resumes when called again with the same config (output and threads may differ) and the same model
// weights. Returns whether all rounds are done; then the summary is stored: {rounds [{round, games, invalid, harmless,
// caught, fools, unjudged, win_rate, mislabelled (harmful steps that the suite knows to be right), critic {samples,
// model, right, wrong: steps judged}, sneaky {samples, model}}]}.
bool self_play(const SelfPlayConfig& config, bool resume, const std::atomic<bool>& stop,
               const ModelWorkshop& workshop = local_workshop());
std::string self_play_table(const Json& summary);

}  // namespace agon::critic
