#include "critic/search/draft.h"

#include <algorithm>
#include <string_view>

#include "core/rng.h"
#include "core/text.h"

namespace agon::critic {
namespace {

using Alternatives = std::vector<std::vector<agents::Alternative>>;

// Whether a tool call's tag is still open at the end of the turn, so that the step continues.
bool inside_call(std::string_view turn) {
  return std::any_of(std::begin(kCallTags), std::end(kCallTags), [&](env::Tag tag) {
    const std::string name(env::name_of(tag));
    const std::size_t opened = turn.rfind("<" + name + ">"), closed = turn.rfind("</" + name + ">");
    return opened != turn.npos && (closed == turn.npos || closed < opened);
  });
}

// The alternatives that a retry may branch off to; the others need not be recorded.
std::vector<agents::Alternative> likely(std::span<const agents::Alternative> alternatives) {
  std::vector<agents::Alternative> some;
  for (const agents::Alternative& one : alternatives)
    if (one.logprob >= agents::kLeastAlternative) some.push_back(one);
  return some;
}

}  // namespace

void Draft::add(const agents::Completion& completion, std::int64_t limit) {
  for (const std::uint32_t end : completion.token_ends) ends.push_back(text.size() + end);
  text += completion.text;
  tokens += completion.tokens();
  token_ids.insert(token_ids.end(), completion.token_ids.begin(), completion.token_ids.end());
  logprobs.insert(logprobs.end(), completion.logprobs.begin(), completion.logprobs.end());
  for (const auto& of_token : completion.alternatives) alternatives.push_back(likely(of_token));
  const bool stopped = completion.finish_reason == agents::FinishReason::stop;
  full = completion.finish_reason == agents::FinishReason::context && text.empty();
  const bool goes_on = !stopped && !full && completion.tokens() == limit && tokens < room;
  ends_turn = tokens >= room || (stopped ? completion.matched_stop.empty() : !goes_on && !full);
  done = ends_turn || full || (!goes_on && !trim(text).empty() && !inside_call(before + text));
}

std::vector<agents::Beginning> Draft::still_excluded() const {
  std::vector<agents::Beginning> rest;
  for (const agents::Beginning& one : excluded) {
    const auto [at, of] = std::mismatch(token_ids.begin(), token_ids.end(), one.token_ids.begin(), one.token_ids.end());
    if (at != token_ids.end() || of == one.token_ids.end()) continue;
    rest.push_back({{of, one.token_ids.end()},
                    {one.logprobs.begin() + tokens, one.logprobs.end()},
                    one.alternatives.empty()
                        ? Alternatives{}
                        : Alternatives{one.alternatives.begin() + tokens, one.alternatives.end()}});
  }
  return rest;
}

int Draft::said() const {
  const std::size_t without = env::without_score(text).size();
  const auto last = std::find_if(ends.begin(), ends.end(), [&](std::size_t end) { return end >= without; });
  if (last != ends.end()) return static_cast<int>(last - ends.begin() + 1);
  return static_cast<int>(ends.empty() ? tokens : std::ssize(ends));
}

void write_out(agents::Policy& policy, std::span<Draft> drafts, agents::Sampling sampling, std::int64_t left) {
  sampling.stop = {kBlankLine};
  for (std::uint64_t round = 0;; ++round) {
    std::vector<Draft*> open;
    for (Draft& draft : drafts)
      if (!draft.done) open.push_back(&draft);
    if (open.empty()) return;
    const std::int64_t share = left / std::ssize(open);
    std::vector<agents::CompletionRequest> requests;
    for (Draft* draft : open) {
      if (share == 0) draft->done = draft->cut = true;
      agents::CompletionRequest request{draft->messages, draft->before + draft->text, 1, sampling};
      request.sampling.max_tokens = static_cast<int>(std::min(share, draft->room - draft->tokens));
      request.sampling.excluded = draft->still_excluded();
      request.sampling.seed = round == 0 ? draft->seed : Rng::derive(draft->seed, "later part of a step", {}, round)();
      requests.push_back(std::move(request));
    }
    if (share == 0) return;
    const std::vector<agents::Completion> completions = policy.complete(requests);
    agents::require_complete(completions);
    for (std::size_t i = 0; i < open.size(); ++i) {
      open[i]->add(completions.at(i), requests[i].sampling.max_tokens);
      left -= completions[i].tokens();
    }
  }
}

void write_within(agents::Policy& policy, std::vector<Draft>& drafts, const agents::Sampling& sampling,
                  std::int64_t left, std::int64_t for_all) {
  std::int64_t most = 0, spent = 0, longest = 1;
  for (const Draft& draft : drafts) most += draft.room;
  if (drafts.size() == 1 || most <= left) return write_out(policy, drafts, sampling, left);
  std::size_t begun = 0;
  for (std::size_t count = 1; count > 0;) {
    const auto some = std::span(drafts).subspan(begun, count);
    write_out(policy, some, sampling, begun == 0 ? left : for_all - spent);
    for (const Draft& draft : some) {
      spent += draft.tokens;
      longest = std::max(longest, draft.tokens);
    }
    begun += count;
    const auto affordable = static_cast<std::size_t>(std::max<std::int64_t>(0, (for_all - spent) / longest));
    count = std::min({affordable, begun, drafts.size() - begun});  // at most twice as many: later ones may be longer
  }
  drafts.erase(drafts.begin() + static_cast<std::ptrdiff_t>(begun), drafts.end());
}

}  // namespace agon::critic
