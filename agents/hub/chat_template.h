// agents/hub/chat_template.h - turns messages into a prompt with the chat template of a checkpoint.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agents/hub/jinja/template.h"
#include "core/json.h"
#include "core/message.h"

namespace agon::agents {

// One piece of a rendered prompt: a special token of the template, text (it contains no special tokens; the template's
// "user\n" is in one piece with the user's text, because they are tokenised together), an image, a video, or the tokens
// that a policy wrote.
struct PromptPiece {
  enum class Kind { markup, text, image, video, tokens };
  Kind kind = Kind::markup;
  std::string text;
  Image image;
  std::vector<std::int32_t> token_ids;
  std::shared_ptr<const Video> video = nullptr;
};

// What a template gets besides the messages.
struct ChatInputs {
  Json tools;                       // a list of function schemas, or null
  Json variables = Json::object();  // such as {"enable_thinking": false}; their texts may become special tokens
  bool opens_turn = true;           // the generation prompt opens the assistant's turn
};

class ChatTemplate {
 public:
  // Takes any template that agents/hub/jinja can run; throws Error for another one, with the line and what is unknown.
  // `special_tokens`: the tokenizer's, beyond those of ChatML and of pictures. `variables`: of every prompt, such as
  // {"bos_token": "<s>"}.
  static ChatTemplate parse(std::string_view jinja, const std::string& source,
                            const std::vector<std::string>& special_tokens = {}, Json variables = Json::object());

  // The prompt, with inputs.opens_turn up to and with the template's generation prompt and `prefix`. Special tokens
  // come from the template and the variables alone: what a message or a tool says stays text. An <|image_pad|> of the
  // template is an image, a <|video_pad|> a video.
  //
  // A turn with token_ids is given by them, as it was sampled: the template sees one character in its place, and what
  // it writes between the generation prompt and that character (Qwen3's empty <think> block) is left out. Throws Error
  // if the template refuses the messages, drops or repeats a sampled turn, or writes another number of images or
  // videos.
  std::vector<PromptPiece> render(const std::vector<Message>& messages, std::string_view prefix = {},
                                  const ChatInputs& inputs = {}) const;
  bool takes_tools() const { return jinja_.find("tools") != std::string::npos; }  // it says something of them
  const std::string& jinja() const { return jinja_; }
  const Json& variables() const { return variables_; }  // as parse was given them
  // The template that agon writes for its own models: ChatML without a default system message, as Jinja that
  // transformers renders identically.
  static std::string plain_jinja();

 private:
  jinja::Text rendered(jinja::Value messages, bool opens_turn, const ChatInputs& inputs) const;
  jinja::Text generation_prompt(const ChatInputs& inputs) const;
  bool shows_probe(bool as_parts) const;

  std::string jinja_, source_;
  jinja::JinjaTemplate template_;
  std::vector<std::string> special_tokens_;  // longest first
  Json variables_ = Json::object();
  bool wants_parts_ = false;  // content is a list of parts even if it is all text
};

}  // namespace agon::agents
