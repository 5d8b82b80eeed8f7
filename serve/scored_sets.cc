#include "serve/scored_sets.h"

#include <algorithm>

#include "core/error.h"
#include "serve/api_error.h"

namespace agon::serve {
namespace {

constexpr std::size_t kAtATime = 16;  // responses scored between two checks of `stop`

void require_context(const critic::RewardModel& model, std::span<const critic::Candidates> sets, std::int64_t& tokens) {
  for (const critic::Candidates& set : sets) try {
      tokens += model.tokens(set);
    } catch (const Error& error) {
      throw Refused{{400, error.what(), "context_length_exceeded"}};
    }
}

// Splits the sets into parts of a few responses. A joint model's sets stay whole, since its responses depend on each
// other.
std::vector<critic::Candidates> parts_of(std::span<const critic::Candidates> sets, bool joint) {
  std::vector<critic::Candidates> parts;
  for (const critic::Candidates& set : sets)
    for (std::size_t i = 0; i < set.responses.size(); i += joint ? set.responses.size() : kAtATime) {
      const auto begin = set.responses.begin() + static_cast<std::ptrdiff_t>(i);
      const std::ptrdiff_t left = set.responses.end() - begin;
      parts.push_back({set.messages, {begin, begin + (joint ? left : std::min<std::ptrdiff_t>(left, kAtATime))}});
    }
  return parts;
}

}  // namespace

ScoredSets scored_sets(critic::RewardModel& model, std::span<const critic::Candidates> sets,
                       const std::atomic<bool>& stop) {
  ScoredSets result;
  require_context(model, sets, result.tokens);
  const std::vector<critic::Candidates> parts = parts_of(sets, model.joint());
  for (std::size_t begin = 0, end = 0; begin < parts.size(); begin = end) {
    if (stop) throw cancelled();
    for (std::size_t responses = 0; end < parts.size(); ++end) {
      responses += parts[end].responses.size();
      if (end > begin && responses > kAtATime) break;
    }
    for (const std::vector<double>& scores : model.score(std::span(parts).subspan(begin, end - begin)))
      result.scores.insert(result.scores.end(), scores.begin(), scores.end());
  }
  return result;
}

}  // namespace agon::serve
