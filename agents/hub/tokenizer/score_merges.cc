#include "agents/hub/tokenizer/score_merges.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "core/error.h"
#include "core/text.h"

namespace agon::agents {
namespace {

struct Cut {
  const ScoredToken* token;
  std::size_t left_bytes, left_length, right_length;  // lengths in characters
  std::size_t left, right;                            // indices of the parts among the tokens
  auto key() const { return std::tuple(token->score, left_length, right_length); }
};

using Places = std::unordered_map<std::string_view, std::size_t>;

// The cuts of one token, sorted by the indices of their parts.
std::vector<Cut> cuts_of(const ScoredToken& token, const Places& places) {
  std::vector<Cut> cuts;
  const std::string_view text = token.text;
  const std::size_t length = characters(text).size();
  std::size_t bytes = 0, left_length = 0;
  for_each_character(text, [&](std::int32_t, std::string_view character) {
    bytes += character.size();
    ++left_length;
    const auto left = places.find(text.substr(0, bytes)), right = places.find(text.substr(bytes));
    if (left != places.end() && right != places.end())
      cuts.push_back({&token, bytes, left_length, length - left_length, left->second, right->second});
  });
  std::sort(cuts.begin(), cuts.end(),
            [](const Cut& a, const Cut& b) { return std::tie(a.left, a.right) < std::tie(b.left, b.right); });
  return cuts;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> merges_of_scores(std::span<const ScoredToken> tokens) {
  Places places;
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (!tokens[i].text.empty()) places[tokens[i].text] = i;
  constexpr std::size_t kMost = 4'000'000;  // several times as many as in any real model
  std::vector<Cut> cuts;
  for (const ScoredToken& token : tokens)
    for (const Cut& cut : cuts_of(token, places)) {
      if (cuts.size() == kMost)
        throw Error("the scores of {} tokens stand for more than {} merges.", tokens.size(), kMost);
      cuts.push_back(cut);
    }
  std::stable_sort(cuts.begin(), cuts.end(), [](const Cut& a, const Cut& b) { return a.key() > b.key(); });
  std::vector<std::pair<std::string, std::string>> merges;
  for (const Cut& cut : cuts)
    merges.emplace_back(cut.token->text.substr(0, cut.left_bytes), cut.token->text.substr(cut.left_bytes));
  return merges;
}

}  // namespace agon::agents
