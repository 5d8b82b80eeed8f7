// critic/reward_model/judge.h - uses a policy as a judge of responses: given two, it writes which one is better; given
// all, it names the best one. Judges are baselines for reward models (YOJO, arXiv 2604.10966, Table 6) and vote in
// preference graphs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agents/policy.h"
#include "core/json.h"
#include "critic/reward_model/preference_graph.h"
#include "critic/reward_model/reward_model.h"

namespace agon::critic {

// A judge's verdict on two responses: the last [[A]], [[B]] or [[C]] (a tie) in its text.
enum class PairVerdict { first, second, tie, invalid };
PairVerdict parse_pair_verdict(std::string_view text);
// The last [[letter]] that names one of `responses` (A is the first), as a number from 0. Nothing: no such letter.
std::optional<std::size_t> parse_choice(std::string_view text, std::size_t responses);

// The request to a judge: the messages, then the responses in this order.
std::vector<Message> pair_request(const std::vector<Message>& messages, const std::string& first,
                                  const std::string& second);
std::vector<Message> choice_request(const std::vector<Message>& messages, std::span<const std::string> responses);

// Throws Error for more responses than letters to name them.
void require_letters(std::size_t responses);

struct JudgeOptions {
  bool swap = true;  // each pair is judged in both orders
  double temperature = 0;
  int max_tokens = 256;
  std::uint64_t seed = 0;
};

// Numbers of requests by outcome. too_long: the request exceeds the policy's context, so the judge wrote nothing. Only
// for pairs: ties, and inconsistent (the two orders of a pair name different responses).
struct JudgeCounts {
  std::int64_t asked = 0, invalid = 0, too_long = 0, ties = 0, inconsistent = 0;
  JudgeCounts& operator+=(const JudgeCounts& other);
};
Json counts_json(const JudgeCounts& counts);

class Judge {
 public:
  Judge(agents::Policy& policy, const JudgeOptions& options) : policy_(policy), options_(options) {}

  // Votes on every pair of each set: 1 for the first response, -1 for the second, 0 for a tie. An invalid verdict or a
  // request that is too long gives no vote. of_each: if given, filled with the counts per set.
  std::vector<std::vector<PreferenceVote>> compare(std::span<const Candidates> sets,
                                                   std::vector<JudgeCounts>* of_each = nullptr);
  // The number of votes that each response won; a tie counts 1/2 for both.
  static std::vector<double> win_counts(std::size_t responses, std::span<const PreferenceVote> votes);
  // The best response of each set, which the judge names in one request; nothing if the verdict is invalid or the
  // request too long. Throws as require_letters does.
  std::vector<std::optional<std::size_t>> choose(std::span<const Candidates> sets);
  const JudgeCounts& counts() const { return counts_; }  // of all calls

 private:
  std::vector<agents::Completion> ask(std::vector<std::vector<Message>> requests);
  agents::Policy& policy_;
  const JudgeOptions options_;
  JudgeCounts counts_;
};

}  // namespace agon::critic
