#include "critic/reward_model/mixture.h"

#include <cmath>

#include "core/error.h"
#include "core/rng.h"
#include "core/text.h"

namespace agon::critic {
namespace {

constexpr double kLeastWeight = 1e-6, kMostWeight = 1e6;

using Places = std::map<std::string, std::vector<std::size_t>>;

// `count` items of `own`, drawn in rounds over all of them; each round is shuffled.
std::vector<std::size_t> draw(const std::vector<std::size_t>& own, std::size_t count, Rng& rng) {
  std::vector<std::size_t> drawn;
  while (drawn.size() < count) {
    std::vector<std::size_t> round = own;
    rng.shuffle(round);
    round.resize(std::min(round.size(), count - drawn.size()));
    drawn.insert(drawn.end(), round.begin(), round.end());
  }
  return drawn;
}

}  // namespace

void require_categories(const std::map<std::string, double>& weights, const std::set<std::string>& categories) {
  const std::vector<std::string> names(categories.begin(), categories.end());
  for (const auto& [name, weight] : weights) {
    if (!categories.contains(name)) throw Error("train-rm: weights: {}", unknown_name_message("category", name, names));
    if (!(weight >= kLeastWeight && weight <= kMostWeight))
      throw Error("train-rm: weights: '{}' must lie between {} and {}, got {}.", name, kLeastWeight, kMostWeight,
                  weight);
  }
}

std::vector<std::size_t> mixed_epoch(const std::vector<std::string>& categories,
                                     const std::map<std::string, double>& weights, std::uint64_t seed, int epoch) {
  Places places;
  for (std::size_t i = 0; i < categories.size(); ++i) places[categories[i]].push_back(i);
  const auto mass = [&](const std::string& name) {
    const auto weight = weights.find(name);
    return std::sqrt(static_cast<double>(places.at(name).size())) * (weight == weights.end() ? 1 : weight->second);
  };
  double all = 0, before = 0;
  for (const auto& [name, own] : places) all += mass(name);
  std::vector<std::size_t> order;
  for (const auto& [name, own] : places) {
    Rng rng = Rng::derive(seed, "epoch", name, static_cast<std::uint64_t>(epoch));
    before += mass(name);
    const auto until = static_cast<std::size_t>(std::llround(before / all * static_cast<double>(categories.size())));
    for (const std::size_t place : draw(own, until - order.size(), rng)) order.push_back(place);
  }
  Rng::derive(seed, "epoch", "order", static_cast<std::uint64_t>(epoch)).shuffle(order);
  return order;
}

}  // namespace agon::critic
