// critic/self_play/games.h - plays games of SPC (arXiv 2504.19162) and converts them to and from JSON. The sneaky
// generator makes a right step wrong, solvers check whether that does harm, and the critic judges both the right and
// the wrong step.
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

// The start of a game: a task of the suite's train split, and a right step that can be made wrong, from a turn of the
// expert or of a solver. Both are drawn from the game's number. right.env points to the challenge's env.
struct Challenge {
  std::uint64_t number = 0;
  std::string suite;
  std::shared_ptr<const env::Env> env;  // before the turn
  StepInContext right;
};
// The author of the solution that the step is taken from: this solver (one sample at temperature 1, whether its answer
// is right or wrong); null: the expert.
struct Opening {
  agents::Policy* solver = nullptr;
  int max_tokens = 256;  // per turn
};
// new_env: an env of the suite; instructions: the system message of its solver. Returns null if the solution has no
// step that is known to be right and can be made wrong. Throws Error for a suite without an expert, and what a solver
// throws.
std::unique_ptr<Challenge> draw_challenge(const env::Env& new_env, const std::string& suite,
                                          const std::string& instructions, std::uint64_t seed, std::uint64_t number,
                                          const Opening& opening = {});

struct PlayedGame {
  std::shared_ptr<const Challenge> challenge;
  std::string sneaky_text;  // as the generator wrote it
  Game game;
  std::vector<Verdict> right_verdicts;  // verdicts on the right step, one per critique
};

struct GameOptions {
  int critiques = 4;  // per step
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

// The request to a generator.
std::vector<Message> sneaky_messages(const StepInContext& right);
// A game after the generator's move, with its text parsed.
PlayedGame begin_game(std::shared_ptr<const Challenge> challenge, std::string sneaky_text);
bool is_valid(const PlayedGame& game);
// Whether the generator's step is wrong, by the suite; the players do not see this.
std::optional<bool> is_wrong(const PlayedGame& game);
// The remaining moves: the solvers check the valid steps, then the critic judges them.
void ask_solvers(const std::vector<agents::Policy*>& solvers, std::span<PlayedGame> games,
                 const SolverCheckOptions& options);
enum class AskOf { wrong_steps, all_steps };
void ask_critic(agents::Policy& critic, std::span<PlayedGame> games, const GameOptions& options, AskOf steps);

// Plays one game per challenge, in their order; all requests to a player are one call. Throws what a player throws.
std::vector<PlayedGame> play_games(const Players& players, std::vector<std::shared_ptr<const Challenge>> challenges,
                                   const GameOptions& options);

// {number, suite, task, messages [{role, parts}], before, step, sneaky, type, sneaky_step, fault, rates, verdicts,
// right_verdicts, outcome, reward, wrong: is_wrong}. `parts` name the task's pictures by hash; `images` gets them.
Json game_json(const PlayedGame& game, std::vector<Image>& images);
// The inverse of game_json, with the game's challenge.
PlayedGame game_in(const Json& json, std::shared_ptr<const Challenge> challenge);

}  // namespace agon::critic
