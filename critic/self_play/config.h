// critic/self_play/config.h - the settings of a self-play run: the players, their games, and how they learn from them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "agents/learn/loop/offline.h"
#include "core/json.h"
#include "critic/self_play/games.h"
#include "critic/self_play/lessons.h"
#include "env/suite.h"

namespace agon::critic {

// Who plays in round r > 1. The generator of round r - 1 plays against the first critic (asymmetric: a stronger
// generator still finds errors that this critic misses) or against the critic of round r - 1 (synchronous).
enum class Pairing { asymmetric, synchronous };

struct GameSource {
  env::Suite suite{"charts"};  // in the solver's role; expert examples have no error of its held_out kind
  std::uint64_t games = 500;   // per round
  std::vector<std::filesystem::path> solvers;  // model folders or servers; empty: the config's
};

struct SelfPlayConfig {
  std::filesystem::path output;                // run folder
  std::filesystem::path critic, sneaky;        // model folders: C0, S0
  std::vector<std::filesystem::path> solvers;  // model folders or servers
  std::vector<GameSource> sources;
  int rounds = 2;
  Pairing pairing = Pairing::asymmetric;
  bool mix_rounds = true;  // a critic learns from the games of all rounds so far
  GameOptions games;
  CriticLessonOptions lessons;
  bool solver_reward = true;   // reward the generator as in sneaky_lessons (critic/self_play/lessons.h)
  bool own_solutions = false;  // take steps from the solutions of each solver in turn; false: from the experts'
  bool imitation = true;       // adds as many of the suites' own examples as samples from games
  agents::OfflineConfig learning;
  std::uint64_t seed = 1;
  Json source;  // the keys as the run stores them; paths are relative to the file
};
inline constexpr const char* kSelfPlayPaths[] = {"/output", "/critic", "/sneaky", "/solvers/*", "/sources/*/solvers/*"};
// Reads the YAML file. changes: "learning.kl=0" and the like override its keys; their paths are relative to the working
// folder. Throws Error naming the key that is unknown, missing or ill-typed.
SelfPlayConfig load_self_play_config(const std::filesystem::path& file, std::span<const std::string> changes = {});

}  // namespace agon::critic
