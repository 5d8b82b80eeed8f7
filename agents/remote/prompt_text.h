// agents/remote/prompt_text.h - what a server's model reads, made on this side with its tokenizer and chat template:
// the prompt or the template of a turn that has begun, for servers that continue no chats by themselves, and counts of
// tokens, for servers that tell none.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "agents/hub/model_folder.h"
#include "core/message.h"

namespace agon::agents {

// Thread-safe.
class PromptText {
 public:
  // Throws Error where the folder has no tokenizer.json and chat template that agon reads.
  explicit PromptText(const std::filesystem::path& folder);

  // Up to the open turn and its prefix, without the token that begins every text: servers add it. Special tokens in a
  // message are those of the model: a server cannot tell them from the template's. Throws Error for a picture.
  std::string of(const std::vector<Message>& messages, std::string_view prefix) const;
  // The chat template, for requests whose last message is the turn that has begun: what it writes ends with that turn,
  // and with the white space at its end, which many templates drop. It refuses messages whose last one the model's
  // template drops.
  const std::string& continuing_jinja() const { return continuing_jinja_; }
  int tokens(std::string_view text) const;
  int prompt_tokens(const std::vector<Message>& messages, std::string_view prefix) const;  // pictures count as none

 private:
  std::string rendered(const std::vector<Message>& messages, std::string_view prefix, bool takes_pictures) const;

  const TextFolder parts_;
  const std::string continuing_jinja_;
};

}  // namespace agon::agents
