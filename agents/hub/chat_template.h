// agents/hub/chat_template.h - the ChatML template of the Qwen2-VL family, with or without its default system
// message.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/message.h"

namespace agon::agents {

// One piece of a rendered prompt: a special token of the template, text (it contains no special tokens; the template's
// "user\n" is in one piece with the user's text, because they are tokenised together), an image, or the tokens that a
// policy wrote.
struct PromptPiece {
  enum class Kind { markup, text, image, tokens };
  Kind kind = Kind::markup;
  std::string text;
  Image image;
  std::vector<std::int32_t> token_ids;
};

class ChatTemplate {
 public:
  // Recognises the template by its content (Jinja text of chat_template.jinja or tokenizer_config.json). Throws Error
  // for a template of another family (tools, another default system message), quoting its beginning.
  static ChatTemplate parse(std::string_view jinja, const std::string& source);
  // The prompt, with opens_turn up to and with "<|im_start|>assistant\n" and `prefix`. An image is "<|vision_start|>",
  // the image, "<|vision_end|>".
  std::vector<PromptPiece> render(const std::vector<Message>& messages, std::string_view prefix = {},
                                  bool opens_turn = true) const;
  const std::string& jinja() const { return jinja_; }
  // The template that agon writes for its own models: ChatML without a default system message, as Jinja that
  // transformers renders identically.
  static std::string plain_jinja();

 private:
  std::string jinja_;
  bool default_system_ = false;
};

}  // namespace agon::agents
