// agents/policy.h - the interface of a policy, a model that completes messages and scores continuations. Thread-safe:
// any thread may call, calls block, and the policy batches them. This header needs no torch.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/message.h"

namespace agon::agents {

// A token that could have been written in place of another one, and its log-probability there.
struct Alternative {
  std::int32_t id = 0;
  float logprob = 0;
};
inline constexpr float kLeastAlternative = -13.8F;  // ln 1e-6: completions never branch off to a less likely token
// The first tokens of a completion.
struct Beginning {
  std::vector<std::int32_t> token_ids;
  std::vector<float> logprobs;                         // of each token, as in Completion
  std::vector<std::vector<Alternative>> alternatives;  // of each token; may be empty
};

// What changes the logits before a token is drawn (agents/engine/logit_changes.h). The log-probabilities that are
// reported stay the model's own.
struct LogitChanges {
  double repetition_penalty = 1;                       // above 0
  double presence_penalty = 0, frequency_penalty = 0;  // in nats
  std::map<std::int32_t, float> bias;                  // by id; -infinity: never drawn
  // Sequences of at least one id that a completion never contains: the last id of one is not drawn right after the
  // others. The end of the prompt does not count as part of a match.
  std::vector<std::vector<std::int32_t>> banned;
  bool are_none() const {
    return repetition_penalty == 1 && presence_penalty == 0 && frequency_penalty == 0 && bias.empty() && banned.empty();
  }
};

struct Sampling {
  double temperature = 1.0;         // 0: greedy
  double greedy_logprobs_at = 1.0;  // > 0: at temperature 0, the temperature of the reported log-probabilities
  double top_p = 1.0;               // (0, 1]
  int top_k = 0;                    // 0: all
  double min_p = 0;                 // [0, 1]: lowest probability, relative to that of the most likely token
  LogitChanges changes;
  std::uint64_t seed = 0;  // sample j of a request draws from the stream (seed, j), whatever else runs
  int max_tokens = 256;
  std::vector<std::string> stop;  // a completion ends after the first match of one of these; the text keeps the match
  // No completion begins with one of these, unless top_k, top_p and min_p leave nothing else. All other completions
  // keep their relative probabilities (sampling without replacement; exact if top_p = 1, top_k = 0, min_p = 0 and the
  // log-probabilities were computed at this temperature). At temperature 0 the completion branches off these where an
  // alternative is most likely, then decodes greedily.
  std::vector<Beginning> excluded;
  int alternatives = 0;   // number reported per token
  bool logprobs = false;  // true: servers are asked for log-probabilities (a local policy always returns them)
};

struct CompletionRequest {
  std::vector<Message> messages;
  std::string prefix;  // text that the assistant turn already holds; the completion continues it
  int n = 1;           // samples
  Sampling sampling;
};

// stop: end-of-turn token or a stop string. length: max_tokens, or the context is full. context: the prompt alone
// exceeds the context; nothing was written.
enum class FinishReason { stop, length, context };
std::string_view to_string(FinishReason reason);

struct Completion {
  std::string text;
  // As sampled, including the end-of-turn token if it was sampled. Empty if the policy does not know the ids.
  std::vector<std::int32_t> token_ids;
  std::optional<int> counted_tokens;  // number of tokens, if their ids are unknown
  std::int64_t tokens() const { return counted_tokens ? *counted_tokens : std::ssize(token_ids); }
  std::vector<float>
      logprobs;  // under the model at Sampling::temperature (at 0: greedy_logprobs_at), before top-k, top-p and min-p
  // For each token the Sampling::alternatives most likely tokens at its place (usually including itself), most likely
  // first, with logprobs as above. Empty if not requested.
  std::vector<std::vector<Alternative>> alternatives;
  std::vector<std::uint32_t> token_ends;  // end of each token in `text`; an end-of-turn token has no text
  FinishReason finish_reason = FinishReason::stop;
  std::string matched_stop;  // empty: ended by the end-of-turn token or by length
  int prompt_tokens = 0;
  int cached_tokens = 0;  // tokens of the prompt that came from a cache
  std::string reasoning;  // of a server that returns it separately from the text
  std::string failure;    // why the request failed (the other fields are then meaningless); empty: success
};
// Throws Error with the first failure among them.
void require_complete(const std::vector<Completion>& completions);

// The policy can no longer work, for example because its server is gone. Callers stop and keep finished episodes.
class PolicyGone : public Error {
 public:
  using Error::Error;
};

struct ScoreRequest {
  std::vector<Message> messages;
  std::vector<std::int32_t> token_ids;  // the continuation
  double temperature = 1.0;
  std::string text;  // the continuation if token_ids is empty, tokenised by the policy
};
struct TokenScores {
  std::vector<float> logprobs;  // one per token of the continuation; empty: prompt and continuation exceed the context
  std::vector<std::vector<Alternative>> alternatives = {};  // of each token, most likely first; empty unless requested
};

// Features of a policy. Callers that depend on one check it before a run starts.
struct Capabilities {
  std::string name;
  bool images = false;
  bool logprobs = false;           // of the tokens that it writes
  bool score = false;              // Policy::score
  int max_context = 0;             // tokens, prompt and completion together; 0: unknown
  bool continues = true;           // CompletionRequest::prefix
  bool continues_pictures = true;  // the same, after messages with pictures
  bool excludes = true;            // Sampling::excluded, with alternatives
  bool token_ids = true;           // of the tokens that it writes
  bool seeds = true;               // equal seeds give equal texts
  bool samples = true;             // temperature has an effect
  bool counts_tokens = true;       // Completion::tokens() and prompt_tokens
  bool videos = false;
};

class Policy {
 public:
  virtual ~Policy() = default;
  // n completions per request, in request order (sample 0.. of request 0, then of request 1, ...). A prompt longer than
  // the context gives completions without tokens (FinishReason::context). Throws Error for a request that cannot run;
  // in this case no request of the call has run. Throws PolicyGone.
  virtual std::vector<Completion> complete(std::span<const CompletionRequest> requests) = 0;
  virtual std::vector<TokenScores> score(std::span<const ScoreRequest> requests) = 0;
  virtual Capabilities capabilities() const = 0;
};

}  // namespace agon::agents
