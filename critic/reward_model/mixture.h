// critic/reward_model/mixture.h - chooses the preferences of one training epoch.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace agon::critic {

// Throws Error for a weight that is not in [1e-6, 1e6], or whose category is not in `categories`.
void require_categories(const std::map<std::string, double>& weights, const std::set<std::string>& categories);

// categories: the category of each item. Returns categories.size() indices of items in the order of training. A
// category's share is proportional to the square root of its size, times its weight (1 if `weights` has none). Its
// items are drawn without replacement; once all are drawn, drawing starts over. For the same items and weights the
// result depends only on (seed, epoch). Weights of absent categories are ignored.
std::vector<std::size_t> mixed_epoch(const std::vector<std::string>& categories,
                                     const std::map<std::string, double>& weights, std::uint64_t seed, int epoch);

}  // namespace agon::critic
