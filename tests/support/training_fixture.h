// tests/support/training_fixture.h - the run of a training run made up: curves as a trainer writes them, and groups
// whose tokens have an advantage for the answer and another for the score.
#pragma once

#include <cmath>
#include <string>

#include "core/text.h"
#include "env/protocol.h"
#include "episode_fixture.h"
#include "record/episode_store.h"

namespace agon::test {

inline const Json kTrainingConfig = {
    {"method", "adpo"}, {"steps", 300},
    {"seed", 1},        {"sources", {{{"suite", "charts"}, {"level", 2}, {"prompts", 8}}}},
    {"samples", 4},     {"optimizer", {{"learning_rate", 1e-4}, {"schedule", "cosine"}}}};

inline record::Metrics made_up_metrics(int step, int steps) {
  Rng rng(static_cast<std::uint64_t>(step));
  const double done = static_cast<double>(step) / steps, right = 0.35 + 0.45 * (1 - std::exp(-3 * done));
  const auto noisy = [&](double value, double noise) { return value + noise * (2 * rng.uniform() - 1); };
  record::Metrics metrics{{"reward/total", noisy(right + 0.1, 0.15)},
                          {"reward/accuracy", noisy(right, 0.15)},
                          {"reward/format", noisy(0.98, 0.02)},
                          {"reward/score", noisy(0.1 * done, 0.1)},
                          {"score/auc", noisy(0.5 + 0.25 * done, 0.1)},
                          {"score/valid", noisy(0.99, 0.01)},
                          {"policy/kl", 0.02 * done + rng.uniform() * 0.004},
                          {"policy/entropy", noisy(0.4 - 0.2 * done, 0.03)},
                          {"policy/clip_low", rng.uniform() * 0.01},
                          {"policy/clip_high", rng.uniform() * 0.02},
                          {"policy/ratio", noisy(1, 0.002)},
                          {"policy/grad_norm", rng.chance(0.01) ? 9 : noisy(0.6, 0.2)},
                          {"policy/loss", noisy(-0.01, 0.02)},
                          {"policy/learning_rate", 1e-4 * (1 + std::cos(3.14159 * done)) / 2},
                          {"length/mean", noisy(42 + 20 * done, 4)},
                          {"length/max", std::floor(noisy(90, 20))},
                          {"length/truncated", rng.uniform() * 0.02},
                          {"groups/filtered", noisy(0.3 + 0.2 * done, 0.1)},
                          {"speed/tokens_per_second", noisy(2100, 300)},
                          {"time/rollout", noisy(1.2, 0.2)},
                          {"time/logprob", noisy(0.3, 0.05)},
                          {"time/update", noisy(0.9, 0.1)}};
  if (step % 7 == 3) metrics[4].second = std::nan("");
  return metrics;
}

inline record::Metrics made_up_evaluation(int step, int steps) {
  Rng rng(static_cast<std::uint64_t>(step) + 1'000'000);
  const double right = 0.36 + 0.4 * (1 - std::exp(-3.0 * step / steps)) + 0.02 * rng.uniform();
  return {{"eval/charts-2/pass_at_1", right},
          {"eval/charts-2/pass_at_1_low", right - 0.04},
          {"eval/charts-2/pass_at_1_high", right + 0.04},
          {"eval/charts-2/greedy", right + 0.03},
          {"eval/charts-2/best_of_8", right + 0.1},
          {"time/eval", 4 + rng.uniform()}};
}

// "word", " word", "\n\n", "<", ...: pieces as a tokenizer might cut them.
inline std::vector<std::string> made_up_tokens(const std::string& text) {
  std::vector<std::string> tokens;
  for (const char c : text) {
    const bool joins = !tokens.empty() && ((std::isalnum(static_cast<unsigned char>(c)) &&
                                            std::isalnum(static_cast<unsigned char>(tokens.back().back()))) ||
                                           (std::isalpha(static_cast<unsigned char>(c)) && tokens.back() == " ") ||
                                           (c == '\n' && tokens.back() == "\n") || is_within_character(c));
    if (!joins) tokens.emplace_back();
    tokens.back() += c;
  }
  return tokens;
}

// One roll-out of a group of `step`: answers right or wrong with a score, each segment with its advantage.
inline record::Episode make_adpo_episode(std::uint64_t task, int sample, int step) {
  record::Episode episode = make_episode(task, sample);
  Rng rng = Rng::derive(task, "adpo", "", static_cast<std::uint64_t>(sample));
  episode.train_step = step;
  episode.success = rng.chance(0.5);
  const std::string score = std::to_string(rng.between(1, 9));
  episode.turns.resize(1);
  record::Turn& turn = episode.turns[0];
  turn.text = "The red bar is " + std::to_string(rng.between(1, 9)) + ", the blue one about 3.\n\nTogether they are " +
              (episode.success ? "seven" : "acht – más o menos") + ".\n\n<answer>" + (episode.success ? "7" : "8") +
              "</answer><score>0." + score + "</score>";
  episode.answer = episode.success ? "7" : "8";
  episode.gold = 7;
  episode.score = std::stod("0." + score);
  episode.reward = turn.reward.total = episode.success ? 1.1 : 0.1;
  turn.token_ids.clear();
  turn.logprobs.clear();
  const auto scored = static_cast<std::size_t>(turn.text.find("<score>"));
  std::size_t written = 0;
  for (std::string& token : made_up_tokens(turn.text + "$")) {
    if (token.back() == '$') token.clear();  // the token that ends the turn
    const bool in_score = written >= scored;
    turn.token_ids.push_back(rng.between(0, 640));
    turn.logprobs.push_back(static_cast<float>(-2 * rng.uniform() * rng.uniform()));
    turn.credit.token_bytes.push_back(static_cast<std::uint16_t>(token.size()));
    turn.credit.advantage.push_back(static_cast<float>((episode.success ? 0.87 : -0.87) * (in_score ? -0.4 : 1)));
    turn.credit.weight.push_back(written == 0 ? 0.f : 0.01f);
    turn.credit.kl.push_back(0.01f);
    written += token.size();
  }
  return episode;
}

// Metrics of all steps, an evaluation every 25, and every 10 steps `groups` groups of 4.
inline void record_training(record::EpisodeStore& store, int steps, int groups) {
  for (int step = 0; step < steps; ++step) {
    for (int i = 0; step % 10 == 0 && i < groups * 4; ++i)
      store.record(make_adpo_episode(static_cast<std::uint64_t>(step * groups + i / 4), i % 4, step));
    store.record_metrics(step, made_up_metrics(step, steps));
    if (step % 25 == 0) store.record_metrics(step, made_up_evaluation(step, steps));
  }
}

}  // namespace agon::test
