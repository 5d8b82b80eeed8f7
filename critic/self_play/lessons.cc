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
  return {sneaky_messages(game.challenge->right), game.sneaky_text, sneaky_reward(outcome_of(game.game)), group, false};
}

// A step of a game that the critic judged.
struct Judged {
  const PlayedGame* game;
  bool right;  // the expert's step; false: the generator's
  const std::vector<Verdict>& verdicts() const { return right ? game->right_verdicts : game->game.verdicts; }
  bool won(const Verdict& verdict) const { return critic_reward(verdict, right) > 0; }
  // A win and a loss on the same step.
  bool has_pair() const {
    const auto wins = std::ranges::count_if(verdicts(), [this](const Verdict& one) { return won(one); });
    return wins > 0 && wins < std::ssize(verdicts());
  }
  StepInContext step() const {
    StepInContext step = game->challenge->right;
    if (!right) step.step = game->game.sneaky.step;
    return step;
  }
};

void add_critiques(const Judged& judged, bool pairs, std::vector<agents::OfflineSample>& samples) {
  // Alone a critique has no baseline but that of all.
  const std::int64_t group = samples.empty() || !pairs ? 0 : samples.back().group + 1;
  for (const Verdict& verdict : judged.verdicts()) {
    samples.push_back(
        {critic_messages(judged.step(), ""), verdict.critique, critic_reward(verdict, judged.right), group, false});
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
  for (const PlayedGame& game : games)
    if (is_valid(game) && (does_harm(game.game.rates) || !options.solver_reward))
      for (const Judged& judged : {Judged{&game, false}, Judged{&game, true}})
        if (!options.pairs || judged.has_pair()) add_critiques(judged, options.pairs, samples);
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
