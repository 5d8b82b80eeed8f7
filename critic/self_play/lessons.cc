#include "critic/self_play/lessons.h"

#include <algorithm>
#include <array>

#include "core/rng.h"
#include "critic/critic_prompt.h"
#include "env/critic_role.h"
#include "env/suite.h"

namespace agon::critic {
namespace {

agents::OfflineSample sneaky_sample(const PlayedGame& game, std::int64_t group) {
  const StepInContext& right = game.challenge->right;
  return {{Message::of(Role::system, env::kSneakyInstructions),
           {Role::user, env::step_request(right.messages, right.before, "Correct Step", right.step), {}, {}}},
          game.sneaky_text,
          sneaky_reward(outcome_of(game.game)),
          group,
          false};
}

void add_critiques(const StepInContext& step, const std::vector<Verdict>& verdicts, bool correct, bool pairs,
                   std::vector<agents::OfflineSample>& samples) {
  const std::int64_t group = samples.empty() ? 0 : samples.back().group + 1;
  for (const Verdict& verdict : verdicts) {
    samples.push_back({critic_messages(step, ""), verdict.critique, critic_reward(verdict, correct), group, false});
    if (!pairs) return;
  }
}

}  // namespace

std::vector<agents::OfflineSample> sneaky_lessons(const std::vector<PlayedGame>& games, std::uint64_t seed) {
  std::array<std::vector<const PlayedGame*>, 3> sorts;
  for (const PlayedGame& game : games) {
    const Outcome outcome = outcome_of(game.game);
    if (outcome == Outcome::fools) sorts[0].push_back(&game);
    if (outcome == Outcome::harmless) sorts[1].push_back(&game);
    if (outcome == Outcome::caught) sorts[2].push_back(&game);
  }
  std::size_t each = games.size();
  for (const auto& sort : sorts)
    if (!sort.empty()) each = std::min(each, sort.size());
  Rng rng = Rng::derive(seed, "sneaky lessons");
  std::vector<agents::OfflineSample> samples;
  for (auto& sort : sorts) {
    rng.shuffle(sort);
    // One group for all: their mean is the baseline, as each task is played once.
    for (std::size_t i = 0; i < std::min(each, sort.size()); ++i) samples.push_back(sneaky_sample(*sort[i], 0));
  }
  return samples;
}

std::vector<agents::OfflineSample> critic_lessons(const std::vector<PlayedGame>& games,
                                                  const CriticLessonOptions& options) {
  std::vector<agents::OfflineSample> samples;
  std::vector<const PlayedGame*> others;
  std::size_t wrong_steps = 0;
  for (const PlayedGame& game : games) {
    const bool valid = outcome_of(game.game) != Outcome::invalid;
    const bool wrong = valid && (does_harm(game.game.rates) || !options.solver_reward);
    if (!wrong) {
      others.push_back(&game);
      continue;
    }
    StepInContext step = game.challenge->right;
    step.step = game.game.sneaky.step;
    add_critiques(step, game.game.verdicts, false, options.pairs, samples);
    ++wrong_steps;
  }
  // Right steps of other games first, so that a problem is not seen twice while there are others.
  Rng rng = Rng::derive(options.seed, "critic lessons");
  rng.shuffle(others);
  for (const PlayedGame& game : games)
    if (std::find(others.begin(), others.end(), &game) == others.end()) others.push_back(&game);
  for (std::size_t i = 0; i < std::min(wrong_steps, others.size()); ++i)
    add_critiques(others[i]->challenge->right, others[i]->right_verdicts, true, options.pairs, samples);
  return samples;
}

std::vector<agents::OfflineSample> role_examples(const std::string& suite, const env::SuiteOptions& options,
                                                 std::size_t count, std::uint64_t seed) {
  const env::SuiteInfo info = env::suite_info(suite, options);
  const auto env = env::make_env(suite, options);
  std::vector<agents::OfflineSample> samples;
  for (std::size_t i = 0; i < count; ++i) {
    const env::StepResult first = env->reset({env::Split::train, i, seed});
    Rng rng = Rng::derive(seed, "role example", env->task().id);
    samples.push_back({{Message::of(Role::system, info.instructions), {Role::user, first.observation.parts, {}, {}}},
                       env->demonstrate(rng).value().at(0).text,
                       0,
                       -1,
                       true});
  }
  return samples;
}

}  // namespace agon::critic
