// critic/self_play/games.h - plays the games of SPC (arXiv 2504.19162) and stores them in a run. The sneaky generator
// makes an expert's step wrong, solvers say whether that does harm, and the critic judges both the right and the wrong
// step.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agents/policy.h"
#include "core/json.h"
#include "critic/self_play/game.h"
#include "env/env.h"

namespace agon::critic {

// A task of the suite's train split, and a right step of one of its expert's (or a solver's) turns that can be made
// wrong, all drawn from the number. `right` points into the challenge.
struct Challenge {
  std::uint64_t number = 0;
  std::string suite;
  std::shared_ptr<const env::Env> env;  // before the turn
  StepInContext right;
};
// Whose solutions the steps are taken from: this solver's, one sample at T = 1, right in the end or not; null: the
// expert's.
struct Opening {
  agents::Policy* solver = nullptr;
  int max_tokens = 256;  // a turn
};
// new_env: of the suite; instructions: what its solver is told. Nothing where the solution has no step that the suite
// knows to be right and that can be made wrong. Throws Error for a suite without an expert, and what a solver throws.
std::unique_ptr<Challenge> draw_challenge(const env::Env& new_env, const std::string& suite,
                                          const std::string& instructions, std::uint64_t seed, std::uint64_t number,
                                          const Opening& opening = {});

struct PlayedGame {
  std::shared_ptr<const Challenge> challenge;
  std::string sneaky_text;  // as it was written
  Game game;
  std::vector<Verdict> right_verdicts;  // critiques of the right step
};

struct GameOptions {
  int critiques = 4;  // of each step
  double temperature = 1;
  int max_tokens = 256;
  SolverCheckOptions solvers;
  std::uint64_t seed = 0;
};

struct Players {
  agents::Policy* sneaky = nullptr;
  agents::Policy* critic = nullptr;
  std::vector<agents::Policy*> solvers;
};

// What a generator is asked.
std::vector<Message> sneaky_messages(const StepInContext& right);
// A game that has come so far: what the generator wrote, read.
PlayedGame begin_game(std::shared_ptr<const Challenge> challenge, std::string sneaky_text);
bool is_valid(const PlayedGame& game);
// What the suite knows of the step that the generator wrote: no player is told.
std::optional<bool> is_wrong(const PlayedGame& game);
// The rest of it: what solvers make of the valid steps, and what the critic says of those.
void ask_solvers(const std::vector<agents::Policy*>& solvers, std::span<PlayedGame> games,
                 const SolverCheckOptions& options);
enum class AskOf { wrong_steps, all_steps };
void ask_critic(agents::Policy& critic, std::span<PlayedGame> games, const GameOptions& options, AskOf steps);

// A game a challenge, in their order; all calls to a player in one. Throws what a player throws.
std::vector<PlayedGame> play_games(const Players& players, std::vector<std::shared_ptr<const Challenge>> challenges,
                                   const GameOptions& options);

// {number, suite, task, messages [{role, parts}], before, step, sneaky, type, sneaky_step, fault, rates, verdicts,
// right_verdicts, outcome, reward, wrong: is_wrong}. The pictures of the task are those of `parts`, by their hashes.
Json game_json(const PlayedGame& game, std::vector<Image>& images);
// What json says of the game, back on its challenge.
PlayedGame game_in(const Json& json, std::shared_ptr<const Challenge> challenge);

}  // namespace agon::critic
