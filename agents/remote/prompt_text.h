// agents/remote/prompt_text.h - renders prompts and counts tokens locally, with the tokenizer and chat template of a
// server's model. This is for servers that cannot continue a turn in a chat, or that do not report token counts.
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
  // Throws Error if the folder lacks a tokenizer.json or chat template that agon can read.
  explicit PromptText(const std::filesystem::path& folder);

  // The prompt up to the open turn and its prefix, without the token that begins every text, because servers add it.
  // The text of a special token in a message becomes that token, because the server cannot tell it from the template's.
  // Throws Error for a picture.
  std::string of(const std::vector<Message>& messages, std::string_view prefix) const;
  // The chat template for requests whose last message is the turn to continue. Its output ends with that turn,
  // including white space at the end, which many templates drop. It raises an exception if the model's own template
  // drops the last message.
  const std::string& continuing_jinja() const { return continuing_jinja_; }
  int tokens(std::string_view text) const;
  int prompt_tokens(const std::vector<Message>& messages, std::string_view prefix) const;  // pictures count as 0

 private:
  std::string rendered(const std::vector<Message>& messages, std::string_view prefix, bool takes_pictures) const;

  const TextFolder parts_;
  const std::string continuing_jinja_;
};

}  // namespace agon::agents
