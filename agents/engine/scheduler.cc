#include "agents/engine/scheduler.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/error.h"

namespace agon::agents {
namespace {

constexpr std::int64_t kLeastRead = 32;  // fewest tokens to read in a step

}  // namespace

Scheduler::Scheduler(ModelBackend& backend, const ModelConfig& config, const Tokenizer& tokenizer,
                     const EngineOptions& options)
    : config_(config),
      max_batch_(static_cast<std::size_t>(std::max(1, options.max_batch))),
      share_starts_(options.share_starts),
      pages_(backend.pages()),
      compute_(backend, config, tokenizer, options),
      most_read_(compute_.most_read()),
      most_stall_(options.most_stall),
      prompts_(options.idle_bytes / pages_.page_bytes()) {}

void Scheduler::add(const std::shared_ptr<EngineCall>& call) {
  const auto before = static_cast<std::ptrdiff_t>(waiting_.size());
  try {
    enqueue(call);
  } catch (...) {
    waiting_.erase(waiting_.begin() + before, waiting_.end());
    throw;
  }
}

void Scheduler::enqueue(const std::shared_ptr<EngineCall>& call) {
  const auto next = [&](const auto& request, std::int64_t most_tokens) -> EngineSequence& {
    auto& sequence = waiting_.emplace_back(std::make_unique<EngineSequence>());
    sequence->call = call;
    sequence->request = &request.prompt;
    sequence->adapter = request.adapter;
    sequence->most_tokens =
        std::min(most_tokens, config_.text.max_position_embeddings - std::ssize(request.prompt.ids));
    return *sequence;
  };
  std::size_t result = 0;
  for (const GenerationRequest& request : call->generations)
    for (int sample = 0; sample < request.n; ++sample) {
      EngineSequence& sequence = next(request, request.sampling.max_tokens);
      sequence.sampling = &request.sampling;
      sequence.completion = &call->completions[result++];
      sequence.rng = Rng::derive(request.sampling.seed, "sample", "", static_cast<std::uint64_t>(sample));
      sequence.text = CompletionText(request.sampling.stop);
    }
  for (std::size_t i = 0; i < call->scorings.size(); ++i) {
    EngineSequence& sequence = next(call->scorings[i], std::ssize(call->scorings[i].token_ids));
    sequence.continuation = &call->scorings[i];
    if (!call->scores.empty()) sequence.scores = &call->scores[i];
    if (!call->states.empty()) sequence.states = &call->states[i];
  }
}

void Scheduler::step() {
  drop_cancelled();
  admit();
  read_prompts();
  compute_.decode(running_);
  tell_watches();
  deliver();
}

void Scheduler::drop_cancelled() noexcept {
  const Deadline now = std::chrono::steady_clock::now();
  const auto end_if_cancelled = [&](const std::unique_ptr<EngineSequence>& sequence) {
    EngineCall& call = *sequence->call;
    if (call.ended || !call.watch) return;
    if (call.watch->cancelled) call.fail(cancelled_);
    if (!call.ended && now >= call.watch->deadline) call.fail(late_);
  };
  for (const auto& sequence : running_) end_if_cancelled(sequence);
  for (const auto& sequence : waiting_) end_if_cancelled(sequence);
  drop_ended();
}

void Scheduler::tell_watches() noexcept {
  for (const auto& sequence : running_) {
    EngineCall& call = *sequence->call;
    if (call.ended || !call.watch || !call.watch->on_token || sequence->failure || !sequence->completion) continue;
    try {
      call.watch->on_token(static_cast<std::size_t>(sequence->completion - call.completions.data()),
                           *sequence->completion);
    } catch (...) {
      sequence->failure = std::current_exception();
    }
  }
}

// Limits the unread tokens to most_read_, since running sequences wait while tokens are read.
void Scheduler::admit() {
  std::int64_t room = most_read_;
  for (const auto& prompt : unread_) room -= prompt->tokens() - prompt->tokens_read;
  while (!waiting_.empty() && running_.size() < max_batch_ && room > 0) {
    EngineSequence& first = *waiting_.front();
    const std::size_t unread = unread_.size();
    try {
      if (running_.size() == running_.capacity()) running_.reserve(2 * running_.size() + 1);
      if (!start(first)) return;
    } catch (...) {
      first.call->fail(std::current_exception());
      drop_ended();
      continue;
    }
    if (first.continuation) room -= first.most_tokens;
    if (unread_.size() > unread) room -= first.prompt->tokens() - first.prompt->tokens_read;
    running_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
}

bool Scheduler::promise(std::int64_t pages) {
  while (!pages_.promise(pages))
    if (!prompts_.drop_oldest()) return false;
  return true;
}

// Finds or creates the prompt and promises memory for prompt and sequence. Returns false if there is not enough memory
// until a running sequence ends.
bool Scheduler::start(EngineSequence& sequence) {
  if (sequence.key.empty()) sequence.key = key_of(*sequence.request, config_, sequence.adapter.get());
  sequence.prompt = prompts_.find(sequence.key);
  if (sequence.completion && sequence.prompt)
    sequence.completion->cached_tokens = static_cast<int>(sequence.prompt->tokens());
  SharedStart shared = sequence.prompt || !share_starts_ ? SharedStart{} : prompts_.longest_start(sequence.key);
  const std::int64_t own_pages = PagePool::pages_for(sequence.most_tokens), tokens = std::ssize(sequence.key);
  std::int64_t pages = own_pages + (sequence.prompt ? 0 : fresh_pages(tokens, shared));
  bool promised = promise(pages);
  if (!promised && running_.empty() && shared.of) {
    // No sequence is running, so only the idle prompt whose start would be shared holds memory: drop it.
    shared = {};
    pages = own_pages + fresh_pages(tokens, shared);
    promised = promise(pages);
  }
  if (!promised && running_.empty() && unread_.empty())
    throw Error("policy: {} of {} pages of keys and values are in use though nothing runs.", pages_.promised(),
                pages_.max_pages());
  if (!promised) {
    sequence.prompt.reset();
    return false;
  }
  const std::int64_t others = pages_.promised() - pages;
  try {
    sequence.own = std::make_unique<KeyValues>(pages_, own_pages);
    if (sequence.completion && sequence.most_tokens == 0) sequence.finish(FinishReason::length);  // the context is full
    if (!sequence.prompt) make_prompt(sequence, shared);
    if (sequence.completion && shared.of) sequence.completion->cached_tokens = static_cast<int>(shared.tokens);
  } catch (...) {
    sequence.own.reset();
    sequence.prompt.reset();
    pages_.release(pages_.promised() - others);  // the pages that no object owns yet
    throw;
  }
  sequence.key = {};
  return true;
}

void Scheduler::make_prompt(EngineSequence& sequence, const SharedStart& shared) {
  const auto prompt = std::make_shared<CachedPrompt>(*sequence.request, config_, pages_, shared, sequence.adapter);
  unread_.push_back(prompt);
  try {
    prompts_.add(std::move(sequence.key), prompt);
  } catch (...) {
    unread_.pop_back();
    throw;
  }
  sequence.prompt = prompt;
}

std::int64_t Scheduler::most_read() const {
  const bool others_wait =
      std::any_of(running_.begin(), running_.end(), [](const auto& sequence) { return sequence->prompt->is_read(); });
  if (!others_wait) return most_read_;
  return std::clamp(static_cast<std::int64_t>(most_stall_ * read_speed_), kLeastRead, most_read_);
}

// Prompts that no sequence waits for any more are cancelled.
void Scheduler::read_prompts() noexcept {
  constexpr long kHolders = 2;  // owners of an unwanted prompt: unread_ and the cache
  for (const auto& prompt : unread_)
    if (prompt.use_count() <= kHolders) prompt->failure = cancelled_;
  const auto start = std::chrono::steady_clock::now();
  const std::int64_t read = compute_.read_prompts(unread_, most_read());
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  if (read >= kLeastRead) read_speed_ = static_cast<double>(read) / taken.count();
  const bool failed =
      std::any_of(unread_.begin(), unread_.end(), [](const auto& prompt) { return prompt->has_failed(); });
  std::erase_if(unread_, [](const auto& prompt) { return prompt->is_read() || prompt->has_failed(); });
  if (failed) drop_failed_prompts();
}

// A prompt that could not be read ends the calls that need it. Prompts that only share its start wait again.
void Scheduler::drop_failed_prompts() noexcept {
  prompts_.drop_failed();
  for (auto place = running_.rbegin(); place != running_.rend(); ++place) {
    EngineSequence& sequence = **place;
    if (sequence.finished) continue;
    sequence.failure = sequence.prompt->failure;
    if (!sequence.prompt->start_failed || sequence.failure) continue;
    try {
      waiting_.emplace_front();
    } catch (...) {
      sequence.failure = std::current_exception();
      continue;
    }
    sequence.own.reset();
    sequence.prompt.reset();
    waiting_.front() = std::move(*place);
  }
  std::erase(running_, nullptr);
}

void Scheduler::deliver() noexcept {
  for (const auto& sequence : running_)
    if (sequence->failure) sequence->call->fail(sequence->failure);
  for (const auto& sequence : running_)
    if (sequence->finished && !sequence->call->ended && --sequence->call->remaining == 0) sequence->call->succeed();
  drop_ended();
}

void Scheduler::drop_ended() noexcept {
  std::erase_if(running_, [](const auto& sequence) { return sequence->finished || sequence->call->ended; });
  std::erase_if(waiting_, [](const auto& sequence) { return sequence->call->ended; });
}

void Scheduler::forget() noexcept {
  prompts_.clear();
  compute_.forget();
}

void Scheduler::fail(const std::exception_ptr& why) noexcept {
  for (const auto& sequence : running_) sequence->call->fail(why);
  for (const auto& sequence : waiting_) sequence->call->fail(why);
  unread_.clear();
  running_.clear();
  waiting_.clear();
  prompts_.clear();
}

}  // namespace agon::agents
