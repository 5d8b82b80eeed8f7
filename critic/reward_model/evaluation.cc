#include "critic/reward_model/evaluation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "core/rng.h"

namespace agon::critic {
namespace {

constexpr std::size_t kSetsAtOnce = 32;

using Order = std::vector<std::size_t>;  // the index of the response at each place

// Draws the orders of the sets [begin, end). number: which of several orders of a set.
std::vector<Order> drawn_orders(const std::vector<Preference>& preferences, std::size_t begin, std::size_t end,
                                std::uint64_t seed, int number = 0) {
  std::vector<Order> drawn;
  for (std::size_t set = begin; set < end; ++set) {
    Order& order = drawn.emplace_back(preferences[set].responses.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    Rng::derive(seed, "order of responses", std::to_string(number), set).shuffle(order);
  }
  return drawn;
}

// The sets from `begin` on, each in its order.
std::vector<Candidates> in_orders(const std::vector<Preference>& preferences, std::size_t begin,
                                  const std::vector<Order>& orders) {
  std::vector<Candidates> sets;
  for (std::size_t i = 0; i < orders.size(); ++i) {
    Candidates& set = sets.emplace_back(Candidates{preferences[begin + i].messages, {}});
    for (const std::size_t place : orders[i]) set.responses.push_back(preferences[begin + i].responses[place]);
  }
  return sets;
}

std::vector<double> put_back(const std::vector<double>& scores, const Order& order) {
  std::vector<double> back(scores.size());
  for (std::size_t i = 0; i < order.size(); ++i) back[order[i]] = scores[i];
  return back;
}

double deviation(const std::vector<double>& values) {
  const double middle = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - middle) * (value - middle);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

std::size_t best_of(const std::vector<double>& scores) {
  return static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

// Calls some(begin, end) for a few sets at a time. Returns false if `done` ended the work early.
bool in_batches(std::size_t sets, const SetsDone& done, const std::function<void(std::size_t, std::size_t)>& some) {
  for (std::size_t begin = 0; begin < sets; begin += kSetsAtOnce) {
    const std::size_t end = std::min(sets, begin + kSetsAtOnce);
    some(begin, end);
    if (done && !done(end - begin)) return false;
  }
  return true;
}

// Adds one set, scored in each order, to the sensitivity.
void add_set(const std::vector<std::vector<double>>& by_order, OrderSensitivity& sums) {
  double over_orders = 0, within = 0;
  std::set<std::size_t> best;
  for (std::size_t response = 0; response < by_order.front().size(); ++response) {
    std::vector<double> scores;
    for (const auto& order : by_order) scores.push_back(order[response]);
    over_orders += deviation(scores) / static_cast<double>(by_order.front().size());
  }
  for (const auto& order : by_order) {
    within += deviation(order) / static_cast<double>(by_order.size());
    best.insert(best_of(order));
  }
  sums.deviation += within > 0 ? over_orders / within : 0;
  sums.best_changes += best.size() > 1;
}

}  // namespace

std::vector<ScoredSet> scored_by(RewardModel& model, const std::vector<Preference>& preferences, int orders,
                                 std::uint64_t seed, OrderSensitivity* sensitivity, const SetsDone& done) {
  std::vector<ScoredSet> scored;
  OrderSensitivity sums;
  const bool whole = in_batches(preferences.size(), done, [&](std::size_t begin, std::size_t end) {
    std::vector<std::vector<std::vector<double>>> by_set(end - begin);
    for (int number = 0; number < std::max(orders, 1); ++number) {
      const std::vector<Order> drawn = drawn_orders(preferences, begin, end, seed, number);
      const std::vector<std::vector<double>> scores = model.score(in_orders(preferences, begin, drawn));
      for (std::size_t i = 0; i < scores.size(); ++i) by_set[i].push_back(put_back(scores[i], drawn[i]));
    }
    for (std::size_t i = begin; i < end; ++i) {
      scored.push_back({preferences[i].category, preferences[i].rank, by_set[i - begin].front()});
      add_set(by_set[i - begin], sums);
    }
  });
  const auto sets = static_cast<double>(preferences.size());
  if (whole && sensitivity && orders > 1) *sensitivity = {sums.deviation / sets, sums.best_changes / sets};
  return scored;
}

std::vector<ScoredSet> compared_by(Judge& judge, const std::vector<Preference>& preferences, std::uint64_t seed,
                                   const SetsDone& done) {
  std::vector<ScoredSet> scored;
  in_batches(preferences.size(), done, [&](std::size_t begin, std::size_t end) {
    const std::vector<Order> drawn = drawn_orders(preferences, begin, end, seed);
    const std::vector<std::vector<PreferenceVote>> votes = judge.compare(in_orders(preferences, begin, drawn));
    for (std::size_t i = 0; i < votes.size(); ++i) {
      const Preference& own = preferences[begin + i];
      scored.push_back({own.category, own.rank, put_back(Judge::win_counts(own.responses.size(), votes[i]), drawn[i])});
    }
  });
  return scored;
}

std::vector<ScoredSet> chosen_by(Judge& judge, const std::vector<Preference>& preferences, std::uint64_t seed,
                                 const SetsDone& done) {
  std::vector<ScoredSet> scored;
  in_batches(preferences.size(), done, [&](std::size_t begin, std::size_t end) {
    const std::vector<Order> drawn = drawn_orders(preferences, begin, end, seed);
    const std::vector<Candidates> batch = in_orders(preferences, begin, drawn);
    const std::vector<std::optional<std::size_t>> choices = judge.choose(batch);
    for (std::size_t i = 0; i < choices.size(); ++i) {
      std::vector<double> scores(batch[i].responses.size());
      if (choices[i]) scores[*choices[i]] = 1;
      const Preference& own = preferences[begin + i];
      scored.push_back({own.category, own.rank, put_back(scores, drawn[i])});
    }
  });
  return scored;
}

}  // namespace agon::critic
