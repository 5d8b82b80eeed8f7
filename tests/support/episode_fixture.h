// tests/support/episode_fixture.h - episodes made by hand.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/rng.h"
#include "record/episode.h"

namespace agon::test {

inline Image picture(std::uint64_t seed, int width = 24, int height = 16) {
  Rng rng(seed);
  std::vector<std::uint8_t> rgb(static_cast<std::size_t>(width * height * 3));
  for (std::uint8_t& value : rgb) value = static_cast<std::uint8_t>(rng.between(0, 255));
  return Image(width, height, std::move(rgb));
}

// The episode of (task, sample): always the same one, of one to three turns, with every field set.
inline record::Episode make_episode(std::uint64_t task, int sample) {
  Rng rng = Rng::derive(task, "episode", "", static_cast<std::uint64_t>(sample + 1));
  record::Episode episode;
  episode.task_id = "charts/2/test/" + std::to_string(task);
  episode.task_index = task;
  episode.level = 2;
  episode.kind = task % 2 == 0 ? "sum" : "count";
  episode.prompt = "How much is red + blue in picture " + std::to_string(task) + "?";
  episode.gold = static_cast<int>(task % 10);
  episode.sample = sample;
  const int turns = rng.between(1, 3);
  for (int i = 0; i < turns; ++i) {
    record::Turn& turn = episode.turns.emplace_back();
    turn.observation.parts = {Part::of(picture(task * 10 + static_cast<std::uint64_t>(i))),
                              Part::of("turn " + std::to_string(i))};
    turn.text = "red is 4\n\n<answer>" + std::to_string(rng.between(0, 9)) + "</answer>";
    for (int token = rng.between(5, 40); token > 0; --token) {
      turn.token_ids.push_back(rng.between(0, 150'000));
      turn.logprobs.push_back(static_cast<float>(-rng.uniform()));
    }
    turn.finish_reason = "stop";
    turn.prompt_tokens = rng.between(20, 90);
    turn.reward = {rng.uniform(), {{"accuracy", rng.uniform()}, {"format", 1}}};
    turn.facts.step_correct = rng.chance(0.5);
    episode.reward += turn.reward.total;
  }
  episode.success = rng.chance(0.5);
  episode.truncated = rng.chance(0.2);
  episode.answer = std::to_string(rng.between(0, 9));
  episode.score = rng.uniform();
  episode.seconds = rng.uniform();
  return episode;
}

inline record::Episode make_failed_episode(std::uint64_t task, int sample) {
  record::Episode episode = make_episode(task, sample);
  episode.status = record::EpisodeStatus::failed;
  episode.failure = "the policy: connection refused";
  episode.turns.resize(1);
  episode.answer.reset();
  episode.score.reset();
  return episode;
}

// The same as an episode of a training run: every token has its bytes of the text and its credit, the last one ends the
// turn.
inline record::Episode make_trained_episode(std::uint64_t task, int sample, int step) {
  record::Episode episode = make_episode(task, sample);
  episode.train_step = step;
  Rng rng = Rng::derive(task, "credit", "", static_cast<std::uint64_t>(sample + 1));
  for (record::Turn& turn : episode.turns) {
    const std::size_t tokens = turn.token_ids.size(), bytes = turn.text.size();
    for (std::size_t i = 0; i < tokens; ++i) {
      const std::size_t begin = i * bytes / (tokens - 1), end = (i + 1) * bytes / (tokens - 1);
      turn.credit.token_bytes.push_back(static_cast<std::uint16_t>(i + 1 < tokens ? end - begin : 0));
      turn.credit.advantage.push_back(static_cast<float>(2 * rng.uniform() - 1));
      turn.credit.weight.push_back(1 / static_cast<float>(tokens));
      turn.credit.kl.push_back(0.01f);
    }
  }
  return episode;
}

}  // namespace agon::test
