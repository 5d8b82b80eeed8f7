#include "agents/local/engine_batch.h"

#include <unistd.h>

#include <algorithm>
#include <set>

#include "core/error.h"

namespace agon::agents {
namespace {

std::int64_t default_cache_bytes() { return sysconf(_SC_PHYS_PAGES) / 4 * sysconf(_SC_PAGESIZE); }

}  // namespace

EngineBatch::EngineBatch(const EngineWeights& weights, const ModelConfig& config, const Tokenizer& tokenizer,
                         const EngineOptions& options)
    : config_(config),
      tokenizer_(tokenizer),
      weights_(weights),
      max_batch_(static_cast<std::size_t>(std::max(1, options.max_batch))),
      share_starts_(options.share_starts),
      allowed_(sampleable_ids(tokenizer, config)),
      pages_(config.text, options.cache_bytes > 0 ? options.cache_bytes : default_cache_bytes()),
      decoder_(weights, config.text, pages_),
      threads_(options.threads),
      prompts_(options.idle_bytes / pages_.page_bytes()),
      images_(options.idle_bytes) {}

void EngineBatch::add(const std::shared_ptr<EngineCall>& call) {
  const auto enqueue = [&](const EncodedPrompt& prompt, std::int64_t most_tokens) -> EngineSequence& {
    auto& sequence = waiting_.emplace_back(std::make_unique<EngineSequence>());
    sequence->call = call;
    sequence->request = &prompt;
    sequence->most_tokens = std::min(most_tokens, config_.text.max_position_embeddings - std::ssize(prompt.ids));
    return *sequence;
  };
  std::size_t result = 0;
  for (const GenerationRequest& request : call->generations)
    for (int sample = 0; sample < request.n; ++sample) {
      EngineSequence& sequence = enqueue(request.prompt, request.sampling.max_tokens);
      sequence.sampling = &request.sampling;
      sequence.completion = &call->completions[result++];
      sequence.rng = Rng::derive(request.sampling.seed, "sample", "", static_cast<std::uint64_t>(sample));
      sequence.text = CompletionText(request.sampling.stop);
    }
  for (std::size_t i = 0; i < call->scorings.size(); ++i) {
    EngineSequence& sequence = enqueue(call->scorings[i].prompt, std::ssize(call->scorings[i].token_ids));
    sequence.continuation = &call->scorings[i];
    if (!call->scores.empty()) sequence.scores = &call->scores[i];
    if (!call->states.empty()) sequence.states = &call->states[i];
  }
}

void EngineBatch::step() {
  admit();
  embed_images();
  read_prompts();
  decode();
  deliver();
}

void EngineBatch::admit() {
  while (!waiting_.empty() && running_.size() < max_batch_ && start(*waiting_.front())) {
    running_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
}

// Finds or makes the prompt and promises memory for both; false if there is not enough of it for now.
bool EngineBatch::start(EngineSequence& sequence) {
  PromptKey key = key_of(*sequence.request, config_);
  sequence.prompt = prompts_.find(key);
  const SharedStart shared = sequence.prompt || !share_starts_ ? SharedStart{} : prompts_.longest_start(key);
  const std::int64_t prompt_pages = sequence.prompt ? 0 : fresh_pages(std::ssize(key), shared);
  const std::int64_t own_pages = PagePool::pages_for(sequence.most_tokens);
  if (!pages_.promise(prompt_pages + own_pages)) {
    prompts_.drop_idle();
    if (!pages_.promise(prompt_pages + own_pages)) {
      sequence.prompt.reset();
      return false;
    }
  }
  sequence.own = std::make_unique<KeyValues>(pages_, own_pages);
  if (sequence.completion && sequence.most_tokens == 0) finish(sequence, FinishReason::length);  // the context is full
  if (sequence.prompt) return true;
  sequence.prompt = std::make_shared<CachedPrompt>(*sequence.request, config_, pages_, shared);
  prompts_.add(std::move(key), sequence.prompt);
  unread_.push_back(sequence.prompt.get());
  return true;
}

void EngineBatch::spread(std::int64_t count,
                         const std::function<void(std::int64_t, const kernels::ParallelFor&)>& body) {
  if (count >= threads_.threads()) {
    threads_.run(count, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) body(i, {});
    });
  } else {
    const kernels::ParallelFor parallel = threads_.parallel();
    for (std::int64_t i = 0; i < count; ++i) body(i, parallel);
  }
}

void EngineBatch::finish(EngineSequence& sequence, FinishReason reason) const {
  Completion& completion = *sequence.completion;
  completion.text = sequence.text.text();
  for (const std::size_t end : sequence.text.token_ends())
    completion.token_ends.push_back(static_cast<std::uint32_t>(end));
  completion.token_ends.resize(completion.token_ids.size(), static_cast<std::uint32_t>(completion.text.size()));
  completion.finish_reason = reason;
  completion.matched_stop = sequence.text.matched_stop();
  completion.prompt_tokens = static_cast<int>(sequence.request->ids.size());
  sequence.finished = true;
}

void EngineBatch::deliver() {
  for (const auto& sequence : running_)
    if (sequence->finished && --sequence->call->remaining == 0) sequence->call->done.set_value();
  std::erase_if(running_, [](const auto& sequence) { return sequence->finished; });
}

void EngineBatch::forget() {
  prompts_.clear();
  images_.clear();
}

void EngineBatch::fail(const std::string& why) {
  std::set<std::shared_ptr<EngineCall>> calls;
  for (const auto& sequence : running_)
    if (sequence) calls.insert(sequence->call);
  for (const auto& sequence : waiting_)
    if (sequence) calls.insert(sequence->call);
  unread_.clear();
  running_.clear();
  waiting_.clear();
  prompts_.clear();
  for (const auto& call : calls)
    if (call->remaining > 0) call->done.set_exception(std::make_exception_ptr(Error(why)));
}

}  // namespace agon::agents
