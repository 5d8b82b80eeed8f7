#include "agents/hub/chat_template.h"

#include "core/error.h"

namespace agon::agents {
namespace {

constexpr std::string_view kStart = "<|im_start|>", kEnd = "<|im_end|>";
constexpr std::string_view kVisionStart = "<|vision_start|>", kVisionEnd = "<|vision_end|>";
constexpr std::string_view kDefaultSystem = "You are a helpful assistant.";

// Collects pieces; adjacent texts become one.
class Prompt {
 public:
  void mark(std::string_view special_token) {
    pieces_.push_back({PromptPiece::Kind::markup, std::string(special_token), {}, {}});
  }
  void text(std::string_view text) {
    if (text.empty()) return;
    if (pieces_.empty() || pieces_.back().kind != PromptPiece::Kind::text)
      pieces_.push_back({PromptPiece::Kind::text, {}, {}, {}});
    pieces_.back().text += text;
  }
  void image(const Image& image) {
    mark(kVisionStart);
    pieces_.push_back({PromptPiece::Kind::image, {}, image, {}});
    mark(kVisionEnd);
  }
  void tokens(const std::vector<std::int32_t>& ids) { pieces_.push_back({PromptPiece::Kind::tokens, {}, {}, ids}); }
  void open_message(std::string_view role) {
    mark(kStart);
    text(role);
    text("\n");
  }
  void close_message() {
    mark(kEnd);
    text("\n");
  }
  std::vector<PromptPiece> take() { return std::move(pieces_); }

 private:
  std::vector<PromptPiece> pieces_;
};

void add_message(const Message& message, Prompt& prompt) {
  prompt.open_message(to_string(message.role));
  if (!message.token_ids.empty()) {
    prompt.tokens(message.token_ids);
  } else {
    for (const Part& part : message.parts)
      if (part.is_image())
        prompt.image(part.image);
      else
        prompt.text(part.text);
  }
  prompt.close_message();
}

bool says(std::string_view jinja, std::string_view what) { return jinja.find(what) != std::string_view::npos; }

}  // namespace

ChatTemplate ChatTemplate::parse(std::string_view jinja, const std::string& source) {
  const auto refuse = [&](const std::string& why) {
    throw Error("chat template {}: {}. agon renders the Qwen2-VL and Qwen2.5-VL template; this one begins: {}", source,
                why, jinja.substr(0, 120));
  };
  for (std::string_view token : {kStart, kEnd, kVisionStart, kVisionEnd})
    if (!says(jinja, token)) refuse(fmt::format("it has no {}", token));
  if (says(jinja, "tools") || says(jinja, "tool_call")) refuse("it writes tools");
  ChatTemplate result;
  result.jinja_ = jinja;
  result.default_system_ = says(jinja, kDefaultSystem);
  if (!result.default_system_ && says(jinja, "<|im_start|>system")) refuse("its default system message is another");
  return result;
}

std::vector<PromptPiece> ChatTemplate::render(const std::vector<Message>& messages, std::string_view prefix,
                                              bool opens_turn) const {
  Prompt prompt;
  const bool has_system = !messages.empty() && messages.front().role == Role::system;
  if (default_system_ && !has_system) add_message(Message::of(Role::system, std::string(kDefaultSystem)), prompt);
  for (const Message& message : messages) add_message(message, prompt);
  if (opens_turn) prompt.open_message(to_string(Role::assistant));
  prompt.text(prefix);
  return prompt.take();
}

std::string ChatTemplate::plain_jinja() {
  return R"({%- for message in messages -%}
  {{- '<|im_start|>' + message['role'] + '\n' -}}
  {%- if message['content'] is string -%}
    {{- message['content'] -}}
  {%- else -%}
    {%- for part in message['content'] -%}
      {%- if part['type'] == 'image' -%}
        {{- '<|vision_start|><|image_pad|><|vision_end|>' -}}
      {%- else -%}
        {{- part['text'] -}}
      {%- endif -%}
    {%- endfor -%}
  {%- endif -%}
  {{- '<|im_end|>\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
  {{- '<|im_start|>assistant\n' -}}
{%- endif -%}
)";
}

}  // namespace agon::agents
