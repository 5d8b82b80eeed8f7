// Rows per second that the episode store records: one-turn episodes of 60 tokens, nine per task, one picture of 112 x
// 112 per task. The same work in Python: benchmarks/peers/sqlite_record.py.
//   record_bench FOLDER [EPISODES]    FOLDER must not hold a run; prints one JSON object
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>

#include "core/error.h"
#include "core/rng.h"
#include "record/episode_store.h"

namespace {

using namespace agon;

constexpr int kSamples = 9, kTokens = 60, kSide = 112;

// A chart-like picture: white, with a few plain bars.
Image picture(Rng& rng) {
  std::vector<std::uint8_t> rgb(kSide * kSide * 3, 255);
  for (int bar = 0; bar < 5; ++bar) {
    const int top = rng.between(10, 90), shade = rng.between(0, 200);
    for (int y = top; y < 104; ++y)
      for (int x = 8 + bar * 20; x < 22 + bar * 20; ++x)
        rgb[static_cast<std::size_t>((y * kSide + x) * 3 + bar % 3)] = static_cast<std::uint8_t>(shade);
  }
  return Image(kSide, kSide, std::move(rgb));
}

record::Episode episode_of(std::uint64_t task, int sample, const Image& image, Rng& rng) {
  record::Episode episode;
  episode.task_id = fmt::format("charts/2/test/{}", task);
  episode.task_index = task;
  episode.level = 2;
  episode.kind = "sum";
  episode.prompt = "What is the sum of the red bar and the blue bar?";
  episode.gold = "7";
  episode.sample = sample;
  record::Turn& turn = episode.turns.emplace_back();
  turn.observation.parts = {Part::of(image), Part::of(episode.prompt)};
  turn.text = "The red bar is 4.\n\nThe blue bar is 3.\n\n4 + 3 = 7\n\n<answer>7</answer><score>0.82</score>";
  for (int i = 0; i < kTokens; ++i) {
    turn.token_ids.push_back(rng.between(0, 4000));
    turn.logprobs.push_back(static_cast<float>(-rng.uniform()));
  }
  turn.finish_reason = "stop";
  turn.prompt_tokens = 40;
  turn.reward = {1, {{"accuracy", 1}, {"format", 0}}};
  episode.reward = 1;
  episode.success = true;
  episode.answer = std::string("7");
  episode.score = 0.82;
  episode.seconds = 0.2;
  return episode;
}

std::vector<record::Episode> make_episodes(std::size_t count) {
  Rng rng(1);
  std::vector<record::Episode> episodes;
  Image image;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % kSamples == 0) image = picture(rng);
    episodes.push_back(episode_of(i / kSamples, static_cast<int>(i % kSamples) - 1, image, rng));
  }
  return episodes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return fmt::print(stderr, "usage: record_bench FOLDER [EPISODES]\n"), 2;
  try {
    const std::size_t count = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 20'000;
    std::vector<record::Episode> episodes = make_episodes(count);
    const std::size_t tasks = (count + kSamples - 1) / kSamples, rows = 2 * count + 2 * tasks;
    const auto start = std::chrono::steady_clock::now();
    const auto store = record::EpisodeStore::create(argv[1], Json{{"suite", "charts"}}, false);
    for (record::Episode& episode : episodes) store->record(std::move(episode));
    store->flush();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    fmt::print("{{\"episodes\": {}, \"rows\": {}, \"seconds\": {:.4f}, \"rows_per_second\": {:.0f}}}\n", count, rows,
               seconds, static_cast<double>(rows) / seconds);
  } catch (const Error& error) {
    fmt::print(stderr, "record_bench: {}\n", error.what());
    return 1;
  }
}
