#include "critic/self_play/lessons.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "core/rng.h"
#include "critic/critic_prompt.h"
#include "env/suite.h"
#include "env/wrappers/critic_role.h"

namespace agon::critic {
namespace {

// All samples form one group with their mean as baseline, since each task is played once.
agents::OfflineSample sneaky_sample(const PlayedGame& game, Outcome outcome) {
  return {sneaky_messages(game.challenge->right), game.sneaky_text, sneaky_reward(outcome), 0, false};
}

// A step of a game that the critic judged.
struct Judged {
  const PlayedGame* game;
  bool right;  // the expert's step; false: the generator's
  const std::vector<Verdict>& verdicts() const { return right ? game->right_verdicts : game->game.verdicts; }
  bool won(const Verdict& verdict) const { return critic_reward(verdict, right) > 0; }
  // Whether the critiques of the step include both a win and a loss.
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

// The two steps of a game, the wrong one first, and whether their critiques are used.
struct Place {
  Place(const PlayedGame& game, bool pairs) : steps{Judged{&game, false}, Judged{&game, true}} {
    for (std::size_t i = 0; i < steps.size(); ++i) taken[i] = !pairs || steps[i].has_pair();
  }
  std::array<Judged, 2> steps;
  std::array<bool, 2> taken{};
};

std::ptrdiff_t count_taken(const std::vector<Place>& places, std::size_t sort) {
  return std::ranges::count_if(places, [sort](const Place& place) { return place.taken[sort]; });
}

// Adds steps of the rarer kind until both kinds are equally frequent, first at places whose other step is used.
void level(std::vector<Place>& places) {
  const std::ptrdiff_t wrong = count_taken(places, 0), right = count_taken(places, 1);
  const std::size_t fewer = right < wrong;
  std::ptrdiff_t missing = std::abs(wrong - right);
  for (const bool beside : {true, false})
    for (Place& place : places) {
      if (missing == 0 || place.taken[fewer] || place.taken[1 - fewer] != beside) continue;
      place.taken[fewer] = true;
      --missing;
    }
}

void add_critiques(const Judged& judged, bool pairs, std::vector<agents::OfflineSample>& samples) {
  // A step with one critique has no baseline of its own, so that all samples share one group.
  const std::int64_t group = samples.empty() || !pairs ? 0 : samples.back().group + 1;
  for (const Verdict& verdict : judged.verdicts()) {
    samples.push_back(
        {critic_messages(judged.step(), ""), verdict.critique, critic_reward(verdict, judged.right), group, false});
    if (!pairs) return;
  }
}

}  // namespace

std::vector<agents::OfflineSample> sneaky_lessons(const std::vector<PlayedGame>& games, std::uint64_t seed,
                                                  bool solver_reward) {
  std::array<std::vector<const PlayedGame*>, 3> sorts;
  for (const PlayedGame& game : games) {
    const Outcome outcome = solver_reward ? outcome_of(game.game) : outcome_without_solvers(game.game);
    if (outcome == Outcome::fools) sorts[0].push_back(&game);
    if (outcome == Outcome::harmless) sorts[1].push_back(&game);
    if (outcome == Outcome::caught) sorts[2].push_back(&game);
  }
  constexpr std::array<Outcome, 3> kOutcomes = {Outcome::fools, Outcome::harmless, Outcome::caught};
  std::size_t each = games.size();
  for (const auto& sort : sorts)
    if (!sort.empty()) each = std::min(each, sort.size());
  Rng rng = Rng::derive(seed, "sneaky lessons");
  std::vector<agents::OfflineSample> samples;
  for (std::size_t k = 0; k < sorts.size(); ++k) {
    rng.shuffle(sorts[k]);
    for (std::size_t i = 0; i < std::min(each, sorts[k].size()); ++i)
      samples.push_back(sneaky_sample(*sorts[k][i], kOutcomes[k]));
  }
  return samples;
}

CriticLessons critic_lessons(const std::vector<PlayedGame>& games, const CriticLessonOptions& options) {
  std::vector<Place> places;
  for (const PlayedGame& game : games)
    if (is_valid(game) && (does_harm(game.game.rates) || !options.harmful_only))
      places.emplace_back(game, options.pairs);
  level(places);
  CriticLessons lessons;
  for (const Place& place : places)
    for (const bool right : {false, true}) {
      if (!place.taken[right]) continue;
      add_critiques(place.steps[right], options.pairs, lessons.samples);
      ++(right ? lessons.right : lessons.wrong);
    }
  return lessons;
}

std::vector<agents::OfflineSample> role_examples(const env::Suite& suite, std::size_t count, std::uint64_t seed) {
  const std::string& instructions = suite.info().instructions;
  const auto env = suite.make_env();
  std::vector<agents::OfflineSample> samples;
  for (std::size_t i = 0; i < count; ++i) {
    const env::StepResult first = env->reset({env::Split::train, i, seed});
    Rng rng = Rng::derive(seed, "role example", env->task().id);
    samples.push_back({{Message::of(Role::system, instructions), {Role::user, first.observation.parts, {}, {}}},
                       env->demonstrate(rng).value().at(0).text,
                       0,
                       -1,
                       true});
  }
  return samples;
}

}  // namespace agon::critic
