#include "agents/learn/loop/train_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "agents/learn/data/response_scorer.h"
#include "agents/learn/data/reward.h"
#include "agents/learn/data/trajectory.h"
#include "core/statistics.h"
#include "core/text.h"

namespace agon::agents {
namespace {

// Means of values, by name.
class Means {
 public:
  void add(const std::string& name, double value) {
    auto& [sum, count] = values_[name];
    sum += value;
    count += 1;
  }
  void append_to(record::Metrics& metrics) const {
    for (const auto& [name, value] : values_) metrics.emplace_back(name, value.first / value.second);
  }

 private:
  std::map<std::string, std::pair<double, double>> values_;
};

void add_numbers(Means& means, const Json& figures, const std::string& method) {
  for (const auto& [key, value] : figures.items())
    if (value.is_number() && !key.ends_with("advantage")) means.add(method + "/" + key, value.get<double>());
}

// Shares of the values of a textual figure ("type": "0->1").
void add_types(Means& means, std::span<const TrainGroup> groups, const std::string& method) {
  for (const TrainGroup& group : groups)
    for (const Json& figures : group.credit.rollout_figures)
      if (figures.contains("type") && !figures.contains("dropped"))
        for (const std::string type : kTurnTypes)
          means.add(fmt::format("{}/type_{}{}", method, type.front(), type.back()), figures["type"] == type);
}

void add_scores(record::Metrics& metrics, std::span<const TrainGroup> groups) {
  std::vector<double> scores;
  std::vector<int> labels;
  double count = 0;
  for (const TrainGroup& group : groups)
    for (const record::Episode& episode : group.episodes) {
      count += 1;
      if (!episode.score) continue;
      scores.push_back(*episode.score);
      labels.push_back(episode.success);
    }
  metrics.emplace_back("score/auc", roc_auc(scores, labels));
  metrics.emplace_back("score/valid", static_cast<double>(scores.size()) / count);
}

void add_lengths(record::Metrics& metrics, std::span<const TrainGroup> groups) {
  double tokens = 0, longest = 0, cut = 0, count = 0;
  for (const TrainGroup& group : groups)
    for (const record::Episode& episode : group.episodes) {
      double length = 0;
      for (const record::Turn& turn : episode.turns) length += static_cast<double>(turn.token_ids.size());
      tokens += length;
      longest = std::max(longest, length);
      cut += was_cut(episode);
      count += 1;
    }
  metrics.emplace_back("length/mean", tokens / count);
  metrics.emplace_back("length/max", longest);
  metrics.emplace_back("length/truncated", cut / count);
}

double repeated_share(const std::string& text) {
  const std::vector<std::string> words = split_words(text);
  std::set<std::tuple<std::string, std::string, std::string>> seen;
  for (std::size_t i = 2; i < words.size(); ++i) seen.emplace(words[i - 2], words[i - 1], words[i]);
  const double runs = std::max(0.0, static_cast<double>(words.size()) - 2);
  return runs > 0 ? 1 - static_cast<double>(seen.size()) / runs : 0;
}

// Pairs of a right and a wrong roll-out of one group: whether the reward model agrees.
void add_agreement(Means& means, const TrainGroup& group) {
  for (const record::Episode& right : group.episodes)
    for (const record::Episode& wrong : group.episodes) {
      if (!right.success || wrong.success) continue;
      const std::optional<double> high = right.turns.back().model_reward, low = wrong.turns.back().model_reward;
      if (high && low) means.add("reward_model/agrees", *high == *low ? 0.5 : *high > *low);
    }
}

void append(record::Metrics& metrics, const std::string& name, const Estimate& figure) {
  if (!figure.defined()) return;
  metrics.emplace_back(name, figure.value);
  if (!std::isfinite(figure.interval.low)) return;
  metrics.emplace_back(name + "_low", figure.interval.low);
  metrics.emplace_back(name + "_high", figure.interval.high);
}

}  // namespace

record::Metrics rollout_metrics(std::span<const TrainGroup> groups, const std::string& method,
                                const std::map<std::string, double>& weights) {
  if (groups.empty()) return {};
  Means means;
  for (const TrainGroup& group : groups) {
    means.add("groups/filtered", !group.credit.filtered.empty());
    add_numbers(means, group.credit.figures, method);
    add_agreement(means, group);
    for (const Json& figures : group.credit.rollout_figures) add_numbers(means, figures, method);
    for (const record::Episode& episode : group.episodes) {
      means.add("reward/total", episode.reward);
      means.add("reward/success", episode.success);
      for (const record::Turn& turn : episode.turns) means.add("length/repeated", repeated_share(turn.text));
      const RewardComponents components = reward_components(episode);
      for (const auto& [name, value] : components) means.add("reward/" + name, value);
      means.add("reward/trained", weighted_reward(components, weights));
    }
  }
  add_types(means, groups, method);
  record::Metrics metrics;
  means.append_to(metrics);
  add_scores(metrics, groups);
  add_lengths(metrics, groups);
  return metrics;
}

record::Metrics update_metrics(std::span<const UpdateFigures> updates, double learning_rate) {
  PolicyLossFigures total;
  double norm = 0, loss = 0, steps = 0;
  for (const UpdateFigures& update : updates) {
    if (update.rows == 0) continue;
    total += update.loss;
    loss += update.loss.loss;
    norm += update.gradient_norm;
    steps += 1;
  }
  record::Metrics metrics{{"policy/learning_rate", learning_rate}};
  if (steps == 0) return metrics;
  metrics.emplace_back("policy/loss", loss / steps);
  metrics.emplace_back("policy/grad_norm", norm / steps);
  metrics.emplace_back("policy/ratio", total.ratio.mean());
  metrics.emplace_back("policy/clip_low", total.clipped_low.mean());
  metrics.emplace_back("policy/clip_high", total.clipped_high.mean());
  metrics.emplace_back("policy/nll", total.nll.mean());
  metrics.emplace_back("policy/entropy", total.entropy.mean());
  if (total.kl.count > 0) metrics.emplace_back("policy/kl", total.kl.mean());
  if (total.kl_clamped.count > 0) metrics.emplace_back("policy/kl_clamped", total.kl_clamped.mean());
  return metrics;
}

std::string evaluation_group(env::Split split, const std::string& label) {
  return (split == env::Split::test ? "eval/" : fmt::format("eval/{}/", env::to_string(split))) + label + "/";
}

record::Metrics evaluation_metrics(const RunSummary& summary, const std::string& group) {
  const RunFigures& figures = summary.figures;
  record::Metrics metrics;
  append(metrics, group + "greedy", figures.greedy);
  append(metrics, group + "pass_at_1", figures.pass_at_1);
  append(metrics, group + "mean_reward", figures.mean_reward);
  const auto append_last = [&](const char* name, const BySize& by_size) {
    if (summary.samples > 1)
      append(metrics, fmt::format("{}{}{}", group, name, summary.samples), by_size.at(summary.samples));
  };
  append_last("pass_at_", figures.pass_at_k);
  append_last("best_of_", figures.best_of_n);
  append_last("majority_", figures.majority);
  append(metrics, group + "score_auc", figures.score_auc);
  append(metrics, group + "score_ap", figures.score_ap);
  if (!figures.two_turn) return metrics;
  for (const TwoTurnColumn& column : kTwoTurnColumns)
    append(metrics, group + column.name, figures.two_turn->samples.*column.figure);
  for (const TwoTurnColumn& column : kTwoTurnColumns)
    append(metrics, group + kGreedyTurns + column.name, figures.two_turn->greedy.*column.figure);
  return metrics;
}

}  // namespace agon::agents
