#include "critic/reward_model/verifier.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "agents/learn/train_rollout.h"
#include "core/error.h"
#include "core/statistics.h"
#include "env/protocol.h"

namespace agon::critic {
namespace {

using Samples = std::vector<env::Episode>;

std::set<std::size_t> sizes_up_to(std::size_t samples) {
  std::set<std::size_t> sizes;
  for (std::size_t n = 1; n <= samples; n *= 2) sizes.insert(n);
  sizes.insert(samples);
  return sizes;
}

std::vector<Candidates> blocks_of(const Samples& samples, std::size_t n, const std::string& instructions) {
  std::vector<Candidates> blocks;
  for (std::size_t first = 0; first + n <= samples.size(); first += n) {
    Candidates& block = blocks.emplace_back();
    block.messages = agents::first_messages(samples.front(), instructions);
    for (std::size_t i = first; i < first + n; ++i)
      block.responses.emplace_back(env::without_score(samples[i].turns.front().text));
  }
  return blocks;
}

std::size_t samples_of(const env::RunReader& run) {
  int most = 0;
  run.for_each([&](const env::Episode& episode) { most = std::max(most, episode.sample + 1); },
               env::RunReader::Detail::without_turns);
  return static_cast<std::size_t>(most);
}

// Of one task: by n, the mean success of what is taken from its blocks. Those n that do not fit go to `not_fitting`.
std::map<std::size_t, double> verify_task(RewardModel& model, const Samples& samples, const std::string& instructions,
                                          const std::set<std::size_t>& sizes, std::set<std::size_t>& not_fitting) {
  std::vector<Candidates> blocks;
  std::vector<std::pair<std::size_t, std::size_t>> places;  // of each block: n and its first sample
  for (const std::size_t n : sizes) {
    std::vector<Candidates> own = blocks_of(samples, n, instructions);
    if (!std::ranges::all_of(own, [&](const Candidates& block) { return model.fits(block); })) not_fitting.insert(n);
    if (not_fitting.contains(n)) continue;
    for (std::size_t i = 0; i < own.size(); ++i) places.emplace_back(n, i * n);
    std::ranges::move(own, std::back_inserter(blocks));
  }
  std::map<std::size_t, std::vector<double>> taken;
  const std::vector<std::vector<double>> scores = model.score(blocks);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto best = static_cast<std::size_t>(std::ranges::max_element(scores[i]) - scores[i].begin());
    taken[places[i].first].push_back(samples[places[i].second + best].success);
  }
  std::map<std::size_t, double> means;
  for (const auto& [n, successes] : taken) means[n] = mean(successes);
  return means;
}

}  // namespace

Json verified(RewardModel& model, const env::RunReader& run, const std::function<bool()>& done) {
  const Json config = run.config();
  const std::string instructions = config.value("instructions", "");
  const std::set<std::size_t> sizes = sizes_up_to(samples_of(run));
  std::map<std::size_t, std::vector<double>> by_n;
  for (const std::size_t n : sizes) by_n[n];
  std::set<std::size_t> not_fitting;
  Samples samples;
  bool stopped = false;
  const auto close = [&] {
    if (samples.empty() || stopped) return;
    for (const auto& [n, value] : verify_task(model, samples, instructions, sizes, not_fitting))
      by_n[n].push_back(value);
    samples.clear();
    stopped = done && !done();
  };
  run.for_each(
      [&](const env::Episode& episode) {
        if (episode.sample == env::kGreedySample || episode.status == env::EpisodeStatus::failed || stopped) return;
        if (episode.turns.size() != 1)
          throw Error("verifier: {} has {} turns; a reward model compares whole responses. Take a suite of one turn.",
                      episode.task_id, episode.turns.size());
        if (!samples.empty() && samples.front().task_index != episode.task_index) close();
        samples.push_back(episode);
      },
      env::RunReader::Detail::whole);
  close();
  if (stopped) return {};
  Json figures{{"verified", Json::object()}, {"not_fitting", not_fitting}, {"ci", Json::object()}};
  for (const std::size_t n : not_fitting) by_n[n].clear();
  for (const auto& [n, values] : by_n) {
    figures["verified"][std::to_string(n)] = values.empty() ? Json() : Json(mean(values));
    if (values.empty()) continue;
    const Interval interval = bootstrap_interval(
        values.size(),
        [&values = values](std::span<const std::size_t> drawn) {
          double sum = 0;
          for (const std::size_t i : drawn) sum += values[i];
          return sum / static_cast<double>(drawn.size());
        },
        config.value("seed", std::uint64_t{0}));
    figures["ci"][fmt::format("verified_{}", n)] = {interval.low, interval.high};
  }
  return figures;
}

}  // namespace agon::critic
