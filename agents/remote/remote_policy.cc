#include "agents/remote/remote_policy.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "agents/remote/requests_under_way.h"
#include "core/error.h"
#include "core/rng.h"
#include "core/text.h"

namespace agon::agents {
namespace {

net::QueueOptions limited(net::QueueOptions options, const Endpoint& endpoint) {
  options.most_in_flight = endpoint.max_in_flight;
  return options;
}

// Adds the log-probabilities of the tokens of the completion's text, which begins after `skipped` bytes of the
// answer's. Adds none if the tokens do not spell the text: servers omit tokens that are half a character. A stop string
// that the server cut off has no log-probabilities.
void add_tokens(const ChatAnswer& answer, std::size_t skipped, Completion& completion) {
  const std::string& text = completion.text;
  std::string spelled;
  std::vector<std::uint32_t> ends;
  std::vector<float> logprobs;
  for (std::size_t i = 0; i < answer.tokens.size() && spelled.size() < skipped + text.size(); ++i) {
    spelled += answer.tokens[i];
    if (spelled.size() <= skipped) continue;
    ends.push_back(static_cast<std::uint32_t>(std::min(spelled.size() - skipped, text.size())));
    logprobs.push_back(answer.logprobs[i]);
  }
  const std::string_view found = std::string_view(spelled).substr(std::min(skipped, spelled.size()));
  const std::size_t known = std::min(found.size(), text.size());
  if (std::ranges::any_of(logprobs, [](float logprob) { return std::isnan(logprob); })) return;
  if (known + completion.matched_stop.size() < text.size() || found.substr(0, known) != text.substr(0, known)) return;
  completion.token_ends = std::move(ends);
  completion.logprobs = std::move(logprobs);
}

Error not_recorded(const Endpoint& endpoint) {
  return Error(
      "policy: the cache has no answer of {} to a request of this run, and --cache replay asks no server. Record the "
      "run first, with the same flags.",
      endpoint.name());
}

std::string thought(const std::string& reasoning) {
  return "<think>\n" + std::string(trim(reasoning)) + "\n</think>\n\n";
}

}  // namespace

// The requests of one call of complete(), and the places of their answers.
class RemotePolicy::Call {
 public:
  Call(RemotePolicy& policy, std::span<const CompletionRequest> requests) : policy_(policy), requests_(requests) {
    for (const CompletionRequest& request : requests) count_ += static_cast<std::size_t>(request.n);
    completions_.resize(count_);
  }

  std::vector<Completion> run() {
    send_all();
    under_way_.wait();
    if (policy_.client_.is_gone())
      throw PolicyGone("policy: {} is gone: {}", policy_.endpoint_.name(), first_failure());
    return std::move(completions_);
  }

 private:
  void send_all() {
    std::size_t place = 0;
    for (const CompletionRequest& request : requests_) {
      if (recall(request, place)) {
        place += static_cast<std::size_t>(request.n);
        continue;
      }
      const bool together = request.n > 1 && traits().many && !streams(request);
      for (int sample = 0; sample < request.n; sample += together ? request.n : 1)
        send({&request, sample, together ? request.n : 1, place + static_cast<std::size_t>(sample),
              request.sampling.max_tokens});
      place += static_cast<std::size_t>(request.n);
    }
  }

  // Takes the request's samples from the cache, if it has all of them.
  bool recall(const CompletionRequest& request, std::size_t place) {
    if (!policy_.cache_) return false;
    for (int sample = 0; sample < request.n; ++sample) {
      auto kept = policy_.cache_->find(key_of(request, sample));
      if (!kept && policy_.endpoint_.cache == CacheUse::replay) throw not_recorded(policy_.endpoint_);
      if (!kept) return false;
      completions_[place + static_cast<std::size_t>(sample)] = std::move(*kept);
    }
    return true;
  }
  std::string key_of(const CompletionRequest& request, int sample) const {
    return GenerationCache::key_of(policy_.endpoint_, policy_.model_name(), request, sample);
  }

  struct Asked {
    const CompletionRequest* request = nullptr;
    int sample = 0, n = 1;
    std::size_t place = 0;
    int max_tokens = 0;
  };

  const ServerTraits& traits() const { return policy_.probed_.traits; }
  // Whether agon has to look for the stop strings, because the server does not report which it found, or would find one
  // in the repeated part of an answer.
  bool streams(const CompletionRequest& request) const {
    return !request.sampling.stop.empty() && (!traits().stops() || !repeated_of(request.prefix).empty());
  }
  // Some servers drop white space at the end of a turn that they continue, and the answer may repeat it. Others repeat
  // the whole turn (repeated_of).
  std::string dropped_from(const std::string& prefix) const {
    return traits().keeps_blank_end ? "" : prefix.substr(prefix.find_last_not_of(" \t\r\n") + 1);
  }
  std::string repeated_of(const std::string& prefix) const {
    return traits().repeats_turn ? prefix : dropped_from(prefix);
  }

  void send(const Asked& asked) {
    const CompletionRequest& request = *asked.request;
    ChatRequest chat{
        .messages = request.messages, .prefix = request.prefix, .sampling = request.sampling, .n = asked.n};
    chat.sampling.max_tokens = asked.max_tokens;
    chat.sampling.seed =
        Rng::derive(request.sampling.seed, "sample of a server", {}, static_cast<std::uint64_t>(asked.sample))();
    chat.asks_logprobs = request.sampling.logprobs;
    chat.streams = streams(request);
    chat.prefix.resize(chat.prefix.size() - dropped_from(request.prefix).size());
    const Json body = chat_body(chat, policy_.parts());
    const StreamEnd end{request.sampling.stop, repeated_of(request.prefix)};
    under_way_.send(body, end, [this, asked](ChatOutcome outcome) { take(asked, outcome); });
  }

  // Called on the client's thread.
  void take(const Asked& asked, ChatOutcome& outcome) {
    if (outcome.is_context && asked.max_tokens > 1) {  // the prompt may fit with a shorter answer
      Asked shorter = asked;
      shorter.max_tokens = std::max(1, asked.max_tokens / 2);
      return send(shorter);
    }
    std::int64_t written = 0;
    for (int i = 0; i < asked.n; ++i) {
      Completion& completion = completions_[asked.place + static_cast<std::size_t>(i)];
      completion = completion_of(asked, outcome, static_cast<std::size_t>(i));
      written += completion.tokens();
      keep(asked, asked.sample + i, completion);
    }
    policy_.count(completions_[asked.place].prompt_tokens, written);
  }

  // If the cache cannot be written, the completion fails.
  void keep(const Asked& asked, int sample, Completion& completion) const {
    if (policy_.cache_) try {
        policy_.cache_->add(key_of(*asked.request, sample), policy_.model_name(), completion);
      } catch (const Error& error) {
        completion.failure = error.what();
      }
  }

  Completion completion_of(const Asked& asked, ChatOutcome& outcome, std::size_t number) const {
    Completion completion;
    if (outcome.is_context) {
      completion.finish_reason = FinishReason::context;
      return completion;
    }
    if (outcome.fault.empty() && number >= outcome.reply.answers.size())
      outcome.fault =
          fmt::format("the server gave {} answers where {} were asked for", outcome.reply.answers.size(), asked.n);
    if (!outcome.fault.empty()) {
      completion.failure = outcome.fault;
      return completion;
    }
    const ChatAnswer& answer = outcome.reply.answers[number];
    const std::string& prefix = asked.request->prefix;
    const std::size_t repeated = repeated_bytes(answer.text, repeated_of(prefix));
    set_text(*asked.request, answer, repeated, completion);
    const std::size_t unwritten = traits().repeats_turn ? prefix.size() - dropped_from(prefix).size() : 0;
    add_tokens(answer, repeated - std::min(repeated, unwritten), completion);
    add_reasoning(*asked.request, answer, completion);
    set_counts(asked, outcome.reply, number, completion);
    return completion;
  }

  void set_text(const CompletionRequest& request, const ChatAnswer& answer, std::size_t repeated,
                Completion& completion) const {
    completion.text = answer.text.substr(repeated);
    completion.finish_reason = answer.finish_reason == "length" ? FinishReason::length : FinishReason::stop;
    if (!streams(request) && traits().names_stop) completion.text += answer.stop;
    const auto [end, stop] = first_stop(completion.text, request.sampling.stop);
    if (end == std::string::npos) return;
    completion.text.resize(end);
    completion.matched_stop = stop;
    completion.finish_reason = FinishReason::stop;
  }

  void add_reasoning(const CompletionRequest& request, const ChatAnswer& answer, Completion& completion) const {
    completion.reasoning = answer.reasoning;
    if (!policy_.endpoint_.keep_reasoning || answer.reasoning.empty() || !request.prefix.empty()) return;
    const std::string before = thought(answer.reasoning);
    completion.text = before + completion.text;
    for (std::uint32_t& end : completion.token_ends) end += static_cast<std::uint32_t>(before.size());
  }

  // Servers report only the sum of tokens over several answers, which is divided equally.
  void set_counts(const Asked& asked, const ChatReply& reply, std::size_t number, Completion& completion) const {
    const ChatAnswer& answer = reply.answers[number];
    const int all = reply.usage ? reply.usage->completion_tokens : 0, each = all / asked.n;
    completion.counted_tokens = each + (number == 0 ? all - each * asked.n : 0);
    if (all == 0) completion.counted_tokens = std::max(answer.chunks, static_cast<int>(answer.tokens.size()));
    completion.prompt_tokens = reply.usage ? reply.usage->prompt_tokens : 0;
    if (reply.usage || !policy_.text_) return;
    try {
      completion.counted_tokens = policy_.text_->tokens(completion.text + completion.reasoning);
      completion.prompt_tokens = policy_.text_->prompt_tokens(asked.request->messages, asked.request->prefix);
    } catch (const Error& error) {  // the template refuses the messages
      completion.failure = error.what();
    }
  }

  std::string first_failure() const {
    for (const Completion& completion : completions_)
      if (!completion.failure.empty()) return completion.failure;
    return "it stopped answering";
  }

  RemotePolicy& policy_;
  const std::span<const CompletionRequest> requests_;
  std::size_t count_ = 0;
  std::vector<Completion> completions_;
  RequestsUnderWay under_way_{policy_.client_};  // last: what is under way writes into the others
};

// The requests of one call of score().
class RemotePolicy::ScoreCall {
 public:
  ScoreCall(RemotePolicy& policy, std::span<const ScoreRequest> requests)
      : policy_(policy),
        requests_(requests),
        prompts_(requests.size()),
        scores_(requests.size()),
        faults_(requests.size()) {}

  std::vector<TokenScores> run() {
    for (std::size_t i = 0; i < requests_.size(); ++i)
      if (!recall(i)) ask(i);
    under_way_.wait();
    for (const std::string& fault : faults_) {
      if (fault.empty()) continue;
      if (policy_.client_.is_gone()) throw PolicyGone("policy: {} is gone: {}", policy_.endpoint_.name(), fault);
      throw Error("policy: {}", fault);
    }
    return std::move(scores_);
  }

 private:
  // The cache stores a scored text as a turn that is continued by 0 tokens.
  std::string key_of(std::size_t i) const {
    CompletionRequest request{.messages = requests_[i].messages, .prefix = requests_[i].text, .sampling = {}};
    request.sampling.max_tokens = 0;
    return GenerationCache::key_of(policy_.endpoint_, policy_.model_name(), request, 0);
  }

  bool recall(std::size_t i) {
    if (!policy_.cache_) return false;
    auto kept = policy_.cache_->find(key_of(i));
    if (!kept && policy_.endpoint_.cache == CacheUse::replay) throw not_recorded(policy_.endpoint_);
    if (!kept) return false;
    scores_[i].logprobs = std::move(kept->logprobs);
    return true;
  }

  void ask(std::size_t i) {
    const ChatRequest request = scoring_request(requests_[i].messages, requests_[i].text);
    const Json body = chat_body(request, policy_.parts());
    prompts_[i] = body.value("prompt", "");
    under_way_.send(body, {}, [this, i](const ChatOutcome& outcome) { take(i, outcome); });
  }

  // Called on the client's thread.
  void take(std::size_t i, const ChatOutcome& outcome) {
    if (outcome.is_context) return;  // leaves the scores empty
    const ChatReply& reply = outcome.reply;
    if (reply.usage) policy_.count(reply.usage->prompt_tokens, reply.usage->completion_tokens);
    faults_[i] = outcome.fault;
    if (!outcome.fault.empty()) return;
    auto logprobs = ending_logprobs(
        policy_.probed_.traits.echoes ? echoed_prompt(reply.answers.front(), prompts_[i]) : reply.prompt,
        requests_[i].text);
    if (!logprobs) {
      faults_[i] = policy_.endpoint_.name() + " gave no log-probabilities of a text.";
      return;
    }
    scores_[i].logprobs = std::move(*logprobs);
    keep(i);
  }

  void keep(std::size_t i) {
    if (!policy_.cache_) return;
    Completion completion;
    completion.logprobs = scores_[i].logprobs;
    try {
      policy_.cache_->add(key_of(i), policy_.model_name(), completion);
    } catch (const Error& error) {
      faults_[i] = error.what();
    }
  }

  RemotePolicy& policy_;
  const std::span<const ScoreRequest> requests_;
  std::vector<std::string> prompts_;  // sent to /v1/completions
  std::vector<TokenScores> scores_;
  std::vector<std::string> faults_;
  RequestsUnderWay under_way_{policy_.client_};  // last: what is under way writes into the others
};

namespace {

std::unique_ptr<GenerationCache> cache_of(const Endpoint& endpoint) {
  if (endpoint.cache == CacheUse::off) return nullptr;
  return std::make_unique<GenerationCache>(generation_cache_file(), endpoint.cache == CacheUse::replay);
}

// Do not wait long for a server that is unavailable at the start.
const net::QueueOptions kFirstContact{.most_in_flight = 4, .attempts = 3, .patience_seconds = 60, .gone_seconds = 1};

Probed probe_or_recall(const Endpoint& endpoint, GenerationCache* cache, const PromptText* text) {
  if (endpoint.cache == CacheUse::replay) {
    auto traits = cache->traits_of(endpoint);
    if (!traits) throw Error("policy: nothing of {} was recorded. Run with --cache record first.", endpoint.name());
    return {std::move(*traits), {}};
  }
  ChatClient client(endpoint, kFirstContact);
  Probed probed = probe(client, text);
  if (probed.traits.model.empty()) probed.traits.model = endpoint.model;
  if (cache) cache->keep_traits(endpoint, probed.traits);
  return probed;
}

}  // namespace

RemotePolicy::RemotePolicy(const Endpoint& endpoint, net::QueueOptions options)
    : endpoint_(endpoint),
      cache_(cache_of(endpoint)),
      text_(endpoint.tokenizer.empty() ? nullptr : std::make_unique<PromptText>(endpoint.tokenizer)),
      client_(endpoint, limited(options, endpoint)),
      probed_(probe_or_recall(endpoint, cache_.get(), text_.get())),
      pictures_(endpoint.images) {}

std::vector<Completion> RemotePolicy::complete(std::span<const CompletionRequest> requests) {
  for (const CompletionRequest& request : requests) {
    if (!request.prefix.empty() && probed_.traits.continuing == Continuing::none)
      throw Error("policy: {} cannot continue a turn that has begun.", endpoint_.name());
    if (!request.sampling.excluded.empty())
      throw Error("policy: {} cannot exclude beginnings of an answer.", endpoint_.name());
  }
  return Call(*this, requests).run();
}

std::vector<TokenScores> RemotePolicy::score(std::span<const ScoreRequest> requests) {
  if (!probed_.traits.scores) throw Error("policy: {} does not score texts.", endpoint_.name());
  for (const ScoreRequest& request : requests)
    if (!request.token_ids.empty() || request.text.empty() || request.temperature != 1)
      throw Error("policy: {} scores texts at temperature 1, and nothing else.", endpoint_.name());
  return ScoreCall(*this, requests).run();
}

std::string RemotePolicy::model_name() const {
  const std::string& found = probed_.traits.model;
  return endpoint_.model.empty() && !found.empty() ? found : endpoint_.name();
}

RequestParts RemotePolicy::parts() { return {endpoint_, probed_.traits, pictures_, text_.get()}; }

void RemotePolicy::count(std::int64_t prompt_tokens, std::int64_t completion_tokens) {
  prompt_tokens_ += prompt_tokens;
  completion_tokens_ += completion_tokens;
}

Paid RemotePolicy::paid() const {
  Paid paid{prompt_tokens_, completion_tokens_, 0};
  if (endpoint_.price) paid.usd = endpoint_.price->of(paid.prompt_tokens, paid.completion_tokens);
  return paid;
}

Paid paid_by(const Policy& policy) {
  const auto* const remote = dynamic_cast<const RemotePolicy*>(&policy);
  return remote ? remote->paid() : Paid{};
}

Capabilities RemotePolicy::capabilities() const {
  const ServerTraits& traits = probed_.traits;
  Capabilities can;
  can.name = model_name();
  can.images = traits.images;
  can.logprobs = traits.logprobs;
  can.score = traits.scores;
  can.continues = traits.continuing != Continuing::none;
  can.continues_pictures = traits.continuing != Continuing::completions;
  can.excludes = can.token_ids = false;
  can.seeds = traits.seeds;
  can.samples = traits.samples;
  can.counts_tokens = traits.counts_tokens || text_;
  can.max_context = traits.context;
  return can;
}

}  // namespace agon::agents
