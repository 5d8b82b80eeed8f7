#include "agents/remote/prompt_text.h"

#include "core/error.h"

namespace agon::agents {

std::string PromptText::rendered(const std::vector<Message>& messages, std::string_view prefix,
                                 bool takes_pictures) const {
  std::string text;
  for (const PromptPiece& piece : parts_.chat.render(messages, prefix)) {
    if (piece.kind == PromptPiece::Kind::image && !takes_pictures)
      throw Error("policy: a turn behind pictures cannot be continued as a text of /v1/completions.");
    text += piece.kind == PromptPiece::Kind::tokens ? parts_.tokenizer->decode(piece.token_ids, false) : piece.text;
  }
  return text;
}

std::string PromptText::of(const std::vector<Message>& messages, std::string_view prefix) const {
  const std::string text = rendered(messages, prefix, false);
  return !parts_.bos.empty() && text.starts_with(parts_.bos) ? text.substr(parts_.bos.size()) : text;
}

int PromptText::tokens(std::string_view text) const { return static_cast<int>(parts_.tokenizer->encode(text).size()); }

int PromptText::prompt_tokens(const std::vector<Message>& messages, std::string_view prefix) const {
  return tokens(rendered(messages, prefix, true));
}

}  // namespace agon::agents
