// agents/engine/scheduler.h - holds the sequences of the engine's thread: those that wait, and those that run as one
// batch. It decides which sequence joins, with which prompt and pages, and which call is done;
// agents/engine/engine_compute.h has the arithmetic. Belongs to one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <vector>

#include "agents/engine/engine_call.h"
#include "agents/engine/engine_compute.h"
#include "agents/engine/engine_sequence.h"
#include "agents/engine/key_value_cache.h"
#include "agents/engine/prompt_cache.h"
#include "core/error.h"

namespace agon::agents {

class Scheduler {
 public:
  Scheduler(const EngineWeights& weights, const ModelConfig& config, const Tokenizer& tokenizer,
            const EngineOptions& options);
  const PagePool& pages() const { return pages_; }

  void add(const std::shared_ptr<EngineCall>& call);  // adds all of it, or throws and adds nothing
  bool busy() const { return !waiting_.empty() || !running_.empty(); }
  int running() const { return static_cast<int>(running_.size()); }
  int waiting() const { return static_cast<int>(waiting_.size()); }
  // Lets waiting sequences in, reads their prompts, and takes every running one a token further. Calls whose last
  // sequence ended are done. What is thrown by the work on one sequence, prompt or picture ends the calls that need it,
  // and no others.
  void step();
  void forget() noexcept;                             // prompts and pictures, computed with weights that have changed
  void fail(const std::exception_ptr& why) noexcept;  // every call in it; nothing is left

 private:
  void enqueue(const std::shared_ptr<EngineCall>& call);
  void admit();
  bool start(EngineSequence& sequence);
  bool promise(std::int64_t pages);  // at the cost of prompts that nobody uses
  void make_prompt(EngineSequence& sequence, const SharedStart& shared);
  void prepare_prompts() noexcept;
  void drop_failed_prompts() noexcept;
  void drop_cancelled() noexcept;
  void tell_watches() noexcept;
  void deliver() noexcept;
  void drop_ended() noexcept;  // and finished ones

  const ModelConfig config_;
  const std::size_t max_batch_;
  const bool share_starts_;
  PagePool pages_;
  EngineCompute compute_;
  PromptCache prompts_;
  std::deque<std::unique_ptr<EngineSequence>> waiting_;
  std::vector<std::unique_ptr<EngineSequence>> running_;
  std::vector<std::shared_ptr<CachedPrompt>> unread_;  // prompts of running sequences
  const std::exception_ptr cancelled_ = std::make_exception_ptr(Error("policy: the call was cancelled."));
};

}  // namespace agon::agents
