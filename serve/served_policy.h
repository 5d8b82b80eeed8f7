// serve/served_policy.h - the model that a server answers with, and adapters of it: its folder and its engine.
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
  // resampler: of pictures; nothing: the folder's. Throws Error for a folder that cannot be loaded.
  ServedPolicy(const std::filesystem::path& folder, const agents::EngineOptions& options,
               const agents::BackendOptions& backend = {}, std::optional<agents::Resampler> resampler = {});

  // Serves a LoRA adapter of the model by a name of its own; before requests come. Throws Error for a folder that is
  // not one of this model, and for a name that is taken.
  void add_adapter(const std::string& name, const std::filesystem::path& folder);

  const std::string& name() const { return name_; }  // the last part of the folder
  const ServedAdapters& adapters() const { return adapters_; }
  const agents::Tokenizer& tokenizer() const { return *folder_.tokenizer; }
  int max_context() const { return engine_.max_context(); }
  agents::Engine& engine() { return engine_; }
  bool ends_turn(std::int32_t id) const;  // a token that writes nothing and ends a completion

  // What the model reads. They throw Refused for a prompt that it cannot read: longer than the context
  // (context_length_exceeded, with the numbers), a picture that cannot be processed, ids that are not its own.
  // With inputs.opens_turn the assistant's turn is open at the end, and begins with `prefix`.
  agents::EncodedPrompt encode(const std::vector<Message>& messages, std::string_view prefix,
                               const agents::ChatInputs& inputs);
  agents::EncodedPrompt encode(const TextPrompt& prompt) const;
  // Of each token of each prompt, with as many alternatives. NaN and no alternatives: of the first token, and up to the
  // last picture. Throws Refused once `stop` is set or the deadline has passed.
  std::vector<agents::TokenScores> score_prompts(const std::vector<agents::GenerationRequest>& requests,
                                                 int alternatives, const std::atomic<bool>& stop,
                                                 agents::Deadline deadline = agents::kNoDeadline);
  // Throws Refused for a prompt that the model cannot read, and for max_tokens beyond the context.
  void require_room(const agents::EncodedPrompt& prompt, std::int64_t max_tokens) const;

 private:
  ServedPolicy(const std::filesystem::path& folder, agents::OpenModel model, const agents::EngineOptions& options);

  // For a text so long that its tokens cannot fit, before it is read: that takes memory.
  void require_readable(std::size_t bytes) const;

  const agents::ModelFolder folder_;
  const std::string name_;
  ServedAdapters adapters_;
  const std::size_t longest_token_;  // bytes
  agents::PatchedPictures pictures_;
  agents::Engine engine_;
};

}  // namespace agon::serve
