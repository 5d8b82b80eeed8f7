// agents/engine/scheduler.h - holds the engine's sequences, those that wait and those that run as one batch. It decides
// which sequence joins, with which prompt and pages, and which call is done; agents/engine/compute.h does the
// arithmetic. Used by the engine's thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <vector>

#include "agents/engine/call.h"
#include "agents/engine/compute.h"
#include "agents/engine/key_value_cache.h"
#include "agents/engine/prompt_cache.h"
#include "agents/engine/sequence.h"
#include "core/error.h"

namespace agon::agents {

class Scheduler {
 public:
  // Keeps references to backend and tokenizer.
  Scheduler(ModelBackend& backend, const ModelConfig& config, const Tokenizer& tokenizer, const EngineOptions& options);
  const PagePool& pages() const { return pages_; }

  void add(const std::shared_ptr<EngineCall>& call);  // adds the whole call, or throws and adds nothing
  bool busy() const { return !waiting_.empty() || !running_.empty(); }
  int running() const { return static_cast<int>(running_.size()); }
  int waiting() const { return static_cast<int>(waiting_.size()); }
  // Admits waiting sequences, reads more of their prompts, and generates the next token of every running one whose
  // prompt is read. Long prompts are read over several steps, so that other sequences wait at most about
  // options.most_stall per step. A call is done when its last sequence ends. An exception in the work on one sequence,
  // prompt or picture ends only the calls that need it.
  void step();
  void forget() noexcept;  // drops prompts and pictures, which were computed with the old weights
  void fail(const std::exception_ptr& why) noexcept;  // ends every call and drops everything

 private:
  void enqueue(const std::shared_ptr<EngineCall>& call);
  void admit();
  bool start(EngineSequence& sequence);
  bool promise(std::int64_t pages);  // drops as many unused prompts as needed
  void make_prompt(EngineSequence& sequence, const SharedStart& shared);
  void read_prompts() noexcept;
  std::int64_t most_read() const;  // tokens of prompts in the next step
  void drop_failed_prompts() noexcept;
  void drop_cancelled() noexcept;  // and calls past their deadline
  void tell_watches() noexcept;
  void deliver() noexcept;
  void drop_ended() noexcept;  // and finished sequences

  const ModelConfig config_;
  const std::size_t max_batch_;
  const bool share_starts_;
  PagePool& pages_;  // of the backend
  EngineCompute compute_;
  // Limit of unread prompt and continuation tokens; the last sequence that joins may exceed it.
  const std::int64_t most_read_;
  const double most_stall_;
  double read_speed_ = 0;  // tokens per second in the last step that read; 0: unknown
  PromptCache prompts_;
  std::deque<std::unique_ptr<EngineSequence>> waiting_;
  std::vector<std::unique_ptr<EngineSequence>> running_;
  std::vector<std::shared_ptr<CachedPrompt>> unread_;  // prompts of running sequences
  const std::exception_ptr cancelled_ = std::make_exception_ptr(Error("policy: the call was cancelled."));
  const std::exception_ptr late_ = std::make_exception_ptr(Error("policy: the call did not end before its deadline."));
};

}  // namespace agon::agents
