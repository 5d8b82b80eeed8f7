// serve/served_policy.h - the model that a server answers with: its folder, its engine and its LoRA adapters.
// Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/engine/engine.h"
#include "agents/engine/open_backend.h"
#include "agents/hub/model_folder.h"
#include "agents/hub/pictures/patched_pictures.h"
#include "core/message.h"
#include "serve/completion_request.h"

namespace agon::serve {

using ServedAdapters = std::map<std::string, std::shared_ptr<const agents::EngineAdapter>>;

class ServedPolicy {
 public:
  // resampler: scales pictures; empty: the folder's own. Throws Error for a folder that cannot be loaded.
  ServedPolicy(const std::filesystem::path& folder, const agents::EngineOptions& options,
               const agents::BackendOptions& backend = {}, std::optional<agents::Resampler> resampler = {});

  // Adds a LoRA adapter of the model under its own name. Call it before requests arrive. Throws Error for a folder that
  // is not an adapter of this model, and for a name that is taken.
  void add_adapter(const std::string& name, const std::filesystem::path& folder);

  const std::string& name() const { return name_; }  // the last part of the folder
  const ServedAdapters& adapters() const { return adapters_; }
  const agents::Tokenizer& tokenizer() const { return *folder_.tokenizer; }
  int max_context() const { return engine_.max_context(); }
  agents::Engine& engine() { return engine_; }
  bool ends_turn(std::int32_t id) const;  // whether the token ends a completion; it writes no text

  // Encode a prompt for the model. Throw Refused for a prompt that it cannot read: longer than the context
  // (context_length_exceeded, with the numbers), a picture that cannot be processed, ids that it does not accept.
  // With inputs.opens_turn the prompt ends within the assistant's turn, which begins with `prefix`.
  agents::EncodedPrompt encode(const std::vector<Message>& messages, std::string_view prefix,
                               const agents::ChatInputs& inputs);
  agents::EncodedPrompt encode(const TextPrompt& prompt) const;
  // Log-probabilities of every token of each prompt, with this many alternatives. The first token, and all tokens up to
  // the last picture, get NaN and no alternatives. Throws Refused once `stop` is set or the deadline has passed.
  std::vector<agents::TokenScores> score_prompts(const std::vector<agents::GenerationRequest>& requests,
                                                 int alternatives, const std::atomic<bool>& stop,
                                                 agents::Deadline deadline = agents::kNoDeadline);
  // Throws Refused for a prompt that the model cannot read, and for max_tokens beyond the context.
  void require_room(const agents::EncodedPrompt& prompt, std::int64_t max_tokens) const;

 private:
  ServedPolicy(const std::filesystem::path& folder, agents::OpenModel model, const agents::EngineOptions& options);

  // Throws Refused if a text of so many bytes cannot fit the context. Called before encoding, which takes memory.
  void require_readable(std::size_t bytes) const;

  const agents::ModelFolder folder_;
  const std::string name_;
  ServedAdapters adapters_;
  const std::size_t longest_token_;  // bytes
  agents::PatchedPictures pictures_;
  agents::Engine engine_;
};

}  // namespace agon::serve
