// critic/reward_model/mixture.h - chooses the preferences of one training epoch.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace agon::critic {

// Throws Error for a weight that is not between a millionth and a million, or that names no category.
void require_categories(const std::map<std::string, double>& weights, const std::set<std::string>& categories);

// Indices into `categories`, as many as it has, in the order of training. A category's share is proportional to the
// square root of its size times its weight (1 if `weights` has none). Its items are drawn without replacement until all
// have come. Depends on (seed, epoch) alone. Weights of absent categories are ignored.
std::vector<std::size_t> mixed_epoch(const std::vector<std::string>& categories,
                                     const std::map<std::string, double>& weights, std::uint64_t seed, int epoch);

}  // namespace agon::critic
