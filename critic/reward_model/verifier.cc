#include "critic/reward_model/verifier.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <span>

#include "agents/episode_outcome.h"
#include "agents/learn/data/train_rollout.h"
#include "core/error.h"
#include "core/intervals.h"
#include "core/statistics.h"
#include "env/grading/vote.h"
#include "env/protocol.h"

namespace agon::critic {
namespace {

using Samples = std::vector<record::Episode>;

std::set<int> sizes_up_to(int samples) {
  std::set<int> sizes;
  for (int n = 1; n <= samples; n *= 2) sizes.insert(n);
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

int samples_of(const record::RunReader& run) {
  int most = 0;
  run.for_each([&](const record::Episode& episode) { most = std::max(most, episode.sample + 1); },
               record::RunReader::Detail::without_turns);
  return most;
}

// Chooses one of several samples by their scores; returns its index.
using Pick = std::size_t (*)(std::span<const record::Episode>, const std::vector<double>&);

std::size_t best(std::span<const record::Episode>, const std::vector<double>& scores) {
  return static_cast<std::size_t>(std::ranges::max_element(scores) - scores.begin());
}

std::size_t voted(std::span<const record::Episode> samples, const std::vector<double>& scores) {
  std::vector<std::size_t> order(samples.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return scores[i]; });
  std::vector<env::Vote> votes;
  bool boxes = false;
  Json grading;
  for (const std::size_t i : order) {
    const agents::EpisodeOutcome outcome = agents::outcome_of(samples[i]);
    votes.push_back({outcome.answer, std::exp(scores[i] - scores[order.front()])});
    boxes = boxes || outcome.answer_is_box;
    grading = outcome.grading;
  }
  return order[env::winning_vote(votes, grading, boxes).value_or(0)];
}

struct Way {
  Pick pick;
  agents::BySize agents::VerifiedFigures::*figures;
};
constexpr Way kWays[] = {{best, &agents::VerifiedFigures::best}, {voted, &agents::VerifiedFigures::majority}};

// By way and n: for each task the mean success of the samples that were picked from its blocks of n.
using Successes = std::map<std::pair<const Way*, int>, std::vector<double>>;

// Adds one task. Every n that does not fit goes to `not_fitting`.
void verify_task(RewardModel& model, const Samples& samples, const std::string& instructions,
                 const std::set<int>& sizes, std::set<int>& not_fitting, Successes& successes) {
  std::vector<Candidates> blocks;
  std::vector<std::size_t> firsts;  // index of each block's first sample
  for (const int n : sizes) {
    const auto size = static_cast<std::size_t>(n);
    std::vector<Candidates> own = blocks_of(samples, size, instructions);
    if (!std::ranges::all_of(own, [&](const Candidates& block) { return model.fits(block); })) not_fitting.insert(n);
    if (not_fitting.contains(n)) continue;
    for (std::size_t i = 0; i < own.size(); ++i) firsts.push_back(i * size);
    std::ranges::move(own, std::back_inserter(blocks));
  }
  Successes taken;
  const std::vector<std::vector<double>> scores = model.score(blocks);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto block = std::span(samples).subspan(firsts[i], scores[i].size());
    const auto n = static_cast<int>(block.size());
    for (const Way& way : kWays) taken[{&way, n}].push_back(block[way.pick(block, scores[i])].success);
  }
  for (const auto& [key, of_blocks] : taken) successes[key].push_back(mean(of_blocks));
}

// blocks: number of blocks in a task's mean.
Estimate mean_of(const std::vector<double>& values, double blocks) {
  std::vector<TaskShare> shares;
  for (const double value : values) shares.push_back({value, 1, blocks});
  return {mean(values), share_interval(shares), values.size()};
}

}  // namespace

std::optional<agents::VerifiedFigures> verified(RewardModel& model, const record::RunReader& run,
                                                const std::function<bool()>& done) {
  const Json config = run.config();
  const std::string instructions = config.value("instructions", "");
  const std::set<int> sizes = sizes_up_to(samples_of(run));
  Successes successes;
  agents::VerifiedFigures figures;
  Samples samples;
  bool stopped = false;
  const auto close = [&] {
    if (samples.empty() || stopped) return;
    verify_task(model, samples, instructions, sizes, figures.not_fitting, successes);
    samples.clear();
    stopped = done && !done();
  };
  run.for_each(
      [&](const record::Episode& episode) {
        if (episode.sample == record::kGreedySample || episode.status == record::EpisodeStatus::failed || stopped)
          return;
        if (episode.turns.size() != 1)
          throw Error("verifier: {} has {} turns; a reward model compares whole responses. Choose a suite of one turn.",
                      episode.task_id, episode.turns.size());
        if (!samples.empty() && samples.front().task_index != episode.task_index) close();
        samples.push_back(episode);
      },
      record::RunReader::Detail::whole);
  close();
  if (stopped) return std::nullopt;
  for (const Way& way : kWays)
    for (const int n : sizes) {
      const std::vector<double>& values = successes[{&way, n}];
      const bool known = !values.empty() && !figures.not_fitting.contains(n);
      (figures.*way.figures)[n] = known ? mean_of(values, *sizes.rbegin() / n) : Estimate();
    }
  return figures;
}

}  // namespace agon::critic
