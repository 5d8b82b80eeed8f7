#include "critic/reward_model/judge.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/rng.h"

namespace agon::critic {
namespace {

constexpr std::size_t kMostLetters = 26;
constexpr const char* kPairInstructions =
    "You compare two responses to a task. Say what is right and wrong in each, then which one is better: [[A]] or "
    "[[B]], or [[C]] for a tie.";
constexpr const char* kChoiceInstructions =
    "You compare several responses to a task. Say what is right and wrong in them, then which one is the best by its "
    "letter, as in [[A]].";

// The last [[letter]] that is one of the first `letters` letters, as a number from 0.
std::optional<std::size_t> last_letter(std::string_view text, std::size_t letters) {
  for (std::size_t at = text.rfind("[["); at != text.npos; at = at == 0 ? text.npos : text.rfind("[[", at - 1)) {
    if (text.size() < at + 5 || text.substr(at + 3, 2) != "]]") continue;
    const auto letter = static_cast<std::size_t>(static_cast<unsigned char>(text[at + 2]) - 'A');
    if (letter < letters) return letter;
  }
  return std::nullopt;
}

// The judge's instructions, then the prompt without its own instructions, and the responses with their letters.
std::vector<Message> request(const char* instructions, const std::vector<Message>& messages,
                             std::span<const std::string> responses) {
  Message question{Role::user, {}, {}, {}};
  for (const Message& message : messages)
    if (message.role != Role::system)
      question.parts.insert(question.parts.end(), message.parts.begin(), message.parts.end());
  for (std::size_t i = 0; i < responses.size(); ++i)
    question.parts.push_back(
        Part::of(fmt::format("\n\nResponse {}:\n{}", static_cast<char>('A' + static_cast<int>(i)), responses[i])));
  return {Message::of(Role::system, instructions), std::move(question)};
}

bool is_too_long(const agents::Completion& written) { return written.finish_reason == agents::FinishReason::context; }

}  // namespace

PairVerdict parse_pair_verdict(std::string_view text) {
  constexpr PairVerdict kVerdicts[] = {PairVerdict::first, PairVerdict::second, PairVerdict::tie};
  const auto letter = last_letter(text, 3);
  return letter ? kVerdicts[*letter] : PairVerdict::invalid;
}

std::optional<std::size_t> parse_choice(std::string_view text, std::size_t responses) {
  return last_letter(text, std::min(responses, kMostLetters));
}

std::vector<Message> pair_request(const std::vector<Message>& messages, const std::string& first,
                                  const std::string& second) {
  return request(kPairInstructions, messages, std::vector{first, second});
}

std::vector<Message> choice_request(const std::vector<Message>& messages, std::span<const std::string> responses) {
  return request(kChoiceInstructions, messages, responses);
}

void require_letters(std::size_t responses) {
  if (responses > kMostLetters)
    throw Error("judge: {} responses to choose from at once; there are letters for {}. Compare pairs instead.",
                responses, kMostLetters);
}

JudgeCounts& JudgeCounts::operator+=(const JudgeCounts& other) {
  asked += other.asked;
  invalid += other.invalid;
  too_long += other.too_long;
  ties += other.ties;
  inconsistent += other.inconsistent;
  return *this;
}

Json counts_json(const JudgeCounts& counts) {
  return {{"asked", counts.asked},
          {"invalid", counts.invalid},
          {"too_long", counts.too_long},
          {"ties", counts.ties},
          {"inconsistent", counts.inconsistent}};
}

std::vector<agents::Completion> Judge::ask(std::vector<std::vector<Message>> requests) {
  std::vector<agents::CompletionRequest> asked;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    agents::CompletionRequest& one = asked.emplace_back();
    one.messages = std::move(requests[i]);
    one.sampling.temperature = options_.temperature;
    one.sampling.max_tokens = options_.max_tokens;
    one.sampling.seed = Rng::derive(options_.seed, "judge", {}, i)();
  }
  std::vector<agents::Completion> completions = policy_.complete(asked);
  agents::require_complete(completions);
  return completions;
}

std::vector<std::vector<PreferenceVote>> Judge::compare(std::span<const Candidates> sets,
                                                        std::vector<JudgeCounts>* of_each) {
  struct Asked {
    std::size_t set;
    int first, second;
  };
  std::vector<Asked> pairs;
  std::vector<std::vector<Message>> requests;
  const auto add = [&](std::size_t set, std::size_t a, std::size_t b) {
    pairs.push_back({set, static_cast<int>(a), static_cast<int>(b)});
    requests.push_back(pair_request(sets[set].messages, sets[set].responses[a], sets[set].responses[b]));
  };
  for (std::size_t set = 0; set < sets.size(); ++set)
    for (std::size_t a = 0; a < sets[set].responses.size(); ++a)
      for (std::size_t b = a + 1; b < sets[set].responses.size(); ++b) {
        add(set, a, b);
        if (options_.swap) add(set, b, a);
      }
  const std::vector<agents::Completion> written = ask(std::move(requests));
  std::vector<JudgeCounts> counts(sets.size());
  std::vector<std::vector<PreferenceVote>> votes(sets.size());
  PairVerdict before = PairVerdict::invalid;  // verdict on the same pair in its first order
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const PairVerdict verdict = parse_pair_verdict(written[i].text);
    const bool unread = is_too_long(written[i]);
    JudgeCounts& own = counts[pairs[i].set];
    ++own.asked;
    own.too_long += unread;
    own.invalid += verdict == PairVerdict::invalid && !unread;
    own.ties += verdict == PairVerdict::tie;
    const bool both = verdict != PairVerdict::invalid && before != PairVerdict::invalid;
    if (options_.swap && i % 2 == 1 && both) own.inconsistent += verdict == before && verdict != PairVerdict::tie;
    before = verdict;
    if (verdict == PairVerdict::invalid) continue;
    const double score = verdict == PairVerdict::first ? 1 : verdict == PairVerdict::second ? -1 : 0;
    votes[pairs[i].set].push_back({pairs[i].first, pairs[i].second, score});
  }
  for (const JudgeCounts& own : counts) counts_ += own;
  if (of_each) *of_each = std::move(counts);
  return votes;
}

std::vector<double> Judge::win_counts(std::size_t responses, std::span<const PreferenceVote> votes) {
  std::vector<double> wins(responses);
  for (const PreferenceVote& vote : votes) {
    wins[static_cast<std::size_t>(vote.first)] += (1 + vote.score) / 2;
    wins[static_cast<std::size_t>(vote.second)] += (1 - vote.score) / 2;
  }
  return wins;
}

std::vector<std::optional<std::size_t>> Judge::choose(std::span<const Candidates> sets) {
  std::vector<std::vector<Message>> requests;
  for (const Candidates& set : sets) {
    require_letters(set.responses.size());
    requests.push_back(choice_request(set.messages, set.responses));
  }
  const std::vector<agents::Completion> written = ask(std::move(requests));
  counts_.asked += std::ssize(written);
  counts_.too_long += std::ranges::count_if(written, is_too_long);
  std::vector<std::optional<std::size_t>> choices;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    choices.push_back(parse_choice(written[i].text, sets[i].responses.size()));
    counts_.invalid += !choices.back() && !is_too_long(written[i]);
  }
  return choices;
}

}  // namespace agon::critic
