// critic/reward_model/mixture.h - chooses the preferences of one training epoch.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace agon::critic {

// Throws Error for a weight that is not between a millionth and a million, or of none of the categories.
void require_categories(const std::map<std::string, double>& weights, const std::set<std::string>& categories);

// Places in `categories`, as many as there are, in the order of training. A category's share of them is in proportion
// to the square root of its size times its weight (1 where `weights` has none); each is drawn without putting back
// until all of it has come. Of (seed, epoch) alone. Weights of categories that are not there say nothing.
std::vector<std::size_t> mixed_epoch(const std::vector<std::string>& categories,
                                     const std::map<std::string, double>& weights, std::uint64_t seed, int epoch);

}  // namespace agon::critic
