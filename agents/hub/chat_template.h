// agents/hub/chat_template.h - renders messages into a prompt with the chat template of a checkpoint.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agents/hub/jinja/template.h"
#include "core/json.h"
#include "core/message.h"

namespace agon::agents {

// One piece of a rendered prompt: a special token of the template (markup), text, an image, a video, or the tokens that
// a policy wrote. Text contains no special tokens. The template's "user\n" and the user's text are one piece, because
// they are tokenised together.
struct PromptPiece {
  enum class Kind { markup, text, image, video, tokens };
  Kind kind = Kind::markup;
  std::string text;
  Image image;
  std::vector<std::int32_t> token_ids;
  std::shared_ptr<const Video> video = nullptr;
};

// Inputs of a template in addition to the messages.
struct ChatInputs {
  Json tools;                       // a list of function schemas, or null
  Json variables = Json::object();  // such as {"enable_thinking": false}; trusted: may hold special tokens
  bool opens_turn = true;           // end with the generation prompt, which opens the assistant's turn
};

class ChatTemplate {
 public:
  // Throws Error for a template that agents/hub/jinja cannot run, with the line and what is unknown. `special_tokens`:
  // those of the tokenizer; ChatML's and the pictures' are always included. `variables` are set for every prompt, such
  // as {"bos_token": "<s>"}.
  static ChatTemplate parse(std::string_view jinja, const std::string& source,
                            const std::vector<std::string>& special_tokens = {}, Json variables = Json::object());

  // The rendered messages, the generation prompt if inputs.opens_turn, and `prefix`. Special tokens come only from the
  // template and the variables: the content of messages and tools stays text. The template's <|image_pad|> becomes an
  // image, its <|video_pad|> a video.
  //
  // A turn with token_ids keeps these tokens as they were sampled: the template gets one placeholder character instead,
  // and text that it writes between the generation prompt and the placeholder (Qwen3's empty <think> block) is dropped.
  // Throws Error if the template rejects the messages, drops or repeats a sampled turn, or writes another number of
  // images or videos than the messages have.
  std::vector<PromptPiece> render(const std::vector<Message>& messages, std::string_view prefix = {},
                                  const ChatInputs& inputs = {}) const;
  bool takes_tools() const { return jinja_.find("tools") != std::string::npos; }  // whether the template mentions tools
  const std::string& jinja() const { return jinja_; }
  const Json& variables() const { return variables_; }  // as given to parse()
  // The template of agon's own models: ChatML without a default system message. transformers renders it identically.
  static std::string plain_jinja();

 private:
  jinja::Text rendered(jinja::Value messages, bool opens_turn, const ChatInputs& inputs) const;
  jinja::Text generation_prompt(const ChatInputs& inputs) const;
  bool shows_probe(bool as_parts) const;

  std::string jinja_, source_;
  jinja::JinjaTemplate template_;
  std::vector<std::string> special_tokens_;  // longest first
  Json variables_ = Json::object();
  bool wants_parts_ = false;  // the template needs content as a list of parts, even if it is all text
};

}  // namespace agon::agents
