#include "agents/hub/chat_template.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace agon::agents {
namespace {

using jinja::Origin;
using jinja::Text;
using jinja::Value;

constexpr std::string_view kImage = "<|image_pad|>", kVideo = "<|video_pad|>";
constexpr std::string_view kChatMl[] = {"<|im_start|>",   "<|im_end|>", "<|vision_start|>",
                                        "<|vision_end|>", kImage,       kVideo};
// U+FFFC, the object replacement character, is the placeholder for a turn given by its tokens, and for a text of which
// only the position in the output matters. It is neither white space nor empty, so that templates keep it.
constexpr std::string_view kPlaceholder = "\uFFFC";
constexpr Origin kFirstTurn = jinja::kGiven + 1;  // the origin of the placeholder of message 0; message 1 follows

Value dict(std::initializer_list<std::pair<std::string_view, Value>> entries) {
  std::vector<jinja::Entry> result;
  for (const auto& [key, value] : entries) result.emplace_back(Value::of(key), value);
  return Value::dict(std::move(result));
}
Value text_part(Value text) { return dict({{"type", Value::of("text")}, {"text", std::move(text)}}); }

Value part_value(const Part& part) {
  if (part.is_text()) return text_part(Value::of(part.text, jinja::kGiven));
  return dict({{"type", Value::of(part.is_video() ? "video" : "image")}});
}

// A text; or a list of parts if there are images or videos, or if the template needs one.
Value content_value(const Message& message, bool as_parts) {
  const auto is_text = [](const Part& part) { return part.is_text(); };
  if (!as_parts && std::all_of(message.parts.begin(), message.parts.end(), is_text))
    return Value::of(message.text(), jinja::kGiven);
  std::vector<Value> parts;
  for (const Part& part : message.parts) parts.push_back(part_value(part));
  return Value::list(std::move(parts));
}

Value tool_call_value(const ToolCall& call) {
  return dict({{"id", Value::of(call.id, jinja::kGiven)},
               {"type", Value::of("function")},
               {"function", dict({{"name", Value::of(call.name, jinja::kGiven)},
                                  {"arguments", Value::from_json(call.arguments, jinja::kGiven)}})}});
}

Value message_value(const Message& message, std::size_t index, bool as_parts) {
  const Value role = Value::of(to_string(message.role));
  if (!message.token_ids.empty()) {  // its tokens include its tool calls
    const Value turn = Value::of(kPlaceholder, kFirstTurn + static_cast<Origin>(index));
    return dict({{"role", role}, {"content", as_parts ? Value::list({text_part(turn)}) : turn}});
  }
  if (message.tool_calls.empty()) return dict({{"role", role}, {"content", content_value(message, as_parts)}});
  std::vector<Value> calls;
  for (const ToolCall& call : message.tool_calls) calls.push_back(tool_call_value(call));
  return dict(
      {{"role", role}, {"content", content_value(message, as_parts)}, {"tool_calls", Value::list(std::move(calls))}});
}

// Cuts a rendered text into pieces; adjacent texts become one.
class PieceCutter {
  // The pictures, or the videos, in the order of the messages, and how many the template has placed so far.
  struct Shown {
    std::vector<const Part*> parts;
    std::size_t times = 0;
    void add(const Part& part) {
      if (!part.is_text()) parts.push_back(&part);
    }
    const Part* next() { return times++ < parts.size() ? parts[times - 1] : nullptr; }
  };

 public:
  PieceCutter(const std::vector<Message>& messages, const std::vector<std::string>& special_tokens,
              const std::string& source)
      : messages_(messages), special_tokens_(special_tokens), source_(source), written_(messages.size(), 0) {
    for (const Message& message : messages)
      for (const Part& part : message.parts)
        if (message.token_ids.empty()) (part.is_video() ? videos_ : images_).add(part);
  }

  void add(const Text& text, const Text& generation_prompt) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.runs().size(); ++i) {
      const auto [end, origin] = text.runs()[i];
      std::string_view bytes = text.view().substr(begin, end - begin);
      const bool opens_turn = i + 1 < text.runs().size() && text.runs()[i + 1].origin >= kFirstTurn;
      if (origin >= kFirstTurn)
        add_turn(origin - kFirstTurn, bytes.size() / kPlaceholder.size());
      else if (origin == jinja::kGiven)
        add_text(bytes);
      else
        add_own(opens_turn ? up_to(bytes, generation_prompt.view()) : bytes);
      begin = end;
    }
  }
  void add_text(std::string_view text) {
    if (text.empty()) return;
    if (pieces_.empty() || pieces_.back().kind != PromptPiece::Kind::text)
      pieces_.push_back({PromptPiece::Kind::text, {}, {}, {}});
    pieces_.back().text += text;
  }
  std::vector<PromptPiece> take() {
    check(images_, kImage, "images");
    check(videos_, kVideo, "videos");
    for (std::size_t i = 0; i < messages_.size(); ++i)
      if (!messages_[i].token_ids.empty() && written_[i] != 1)
        throw Error("chat template {}: it writes message {}, a sampled turn, {} times", source_, i, written_[i]);
    return std::move(pieces_);
  }

 private:
  // The text up to the end of its last generation prompt. If a template opens past turns differently, the whole text.
  static std::string_view up_to(std::string_view text, std::string_view generation_prompt) {
    const std::size_t at = generation_prompt.empty() ? std::string_view::npos : text.rfind(generation_prompt);
    return at == std::string_view::npos ? text : text.substr(0, at + generation_prompt.size());
  }
  void add_turn(std::size_t message, std::size_t times) {
    written_[message] += times;
    pieces_.push_back({PromptPiece::Kind::tokens, {}, {}, messages_[message].token_ids});
  }
  // Adds text of the template, whose special tokens become markup.
  void add_own(std::string_view text) {
    std::size_t plain = 0;
    for (std::size_t at = 0; at < text.size();) {
      const std::string_view token = special_token_at(text.substr(at));
      if (token.empty()) {
        ++at;
        continue;
      }
      add_text(text.substr(plain, at - plain));
      add_special(token);
      plain = at += token.size();
    }
    add_text(text.substr(plain));
  }
  std::string_view special_token_at(std::string_view text) const {
    const auto begins = [text](const std::string& token) { return text.starts_with(token); };
    const auto found = std::find_if(special_tokens_.begin(), special_tokens_.end(), begins);
    return found == special_tokens_.end() ? std::string_view() : std::string_view(*found);
  }
  void add_special(std::string_view token) {
    if (token == kImage) {
      if (const Part* part = images_.next()) pieces_.push_back({PromptPiece::Kind::image, {}, part->image, {}});
    } else if (token == kVideo) {
      if (const Part* part = videos_.next()) pieces_.push_back({PromptPiece::Kind::video, {}, {}, {}, part->video});
    } else {
      pieces_.push_back({PromptPiece::Kind::markup, std::string(token), {}, {}});
    }
  }
  void check(const Shown& shown, std::string_view token, std::string_view what) const {
    if (shown.times != shown.parts.size())
      throw Error("chat template {}: it writes {} {} times for {} {}", source_, token, shown.times, shown.parts.size(),
                  what);
  }

  const std::vector<Message>& messages_;
  const std::vector<std::string>& special_tokens_;
  const std::string& source_;
  Shown images_, videos_;
  std::vector<std::size_t> written_;  // how often each sampled turn was written
  std::vector<PromptPiece> pieces_;
};

Value probe_messages(bool as_parts) {
  const Value text = Value::of(kPlaceholder, jinja::kGiven);
  return Value::list(
      {dict({{"role", Value::of("user")}, {"content", as_parts ? Value::list({text_part(text)}) : text}})});
}

}  // namespace

ChatTemplate ChatTemplate::parse(std::string_view jinja, const std::string& source,
                                 const std::vector<std::string>& special_tokens, Json variables) {
  ChatTemplate result;
  result.jinja_ = jinja;
  result.source_ = source;
  result.template_ = jinja::JinjaTemplate::parse(jinja, source);
  result.variables_ = std::move(variables);
  result.special_tokens_.assign(std::begin(kChatMl), std::end(kChatMl));
  for (const std::string& token : special_tokens)
    if (!token.empty()) result.special_tokens_.push_back(token);
  std::stable_sort(result.special_tokens_.begin(), result.special_tokens_.end(),
                   [](const auto& a, const auto& b) { return a.size() > b.size(); });
  result.wants_parts_ = !result.shows_probe(false) && result.shows_probe(true);
  return result;
}

// Whether the template writes a user's message that is given as a text, or as a list of parts.
bool ChatTemplate::shows_probe(bool as_parts) const try {
  return rendered(probe_messages(as_parts), true, {}).view().find(kPlaceholder) != std::string_view::npos;
} catch (const Error&) {
  return false;
}

Text ChatTemplate::rendered(Value messages, bool opens_turn, const ChatInputs& inputs) const {
  jinja::Variables variables = {{"messages", std::move(messages)},
                                {"tools", Value::from_json(inputs.tools, jinja::kGiven)},
                                {"documents", Value()},
                                {"add_generation_prompt", opens_turn}};
  for (const Json& more : {std::cref(variables_), std::cref(inputs.variables)})
    for (const auto& [name, value] : more.items()) variables.emplace_back(name, Value::from_json(value, jinja::kOwn));
  return template_.render(variables);
}

// The text that add_generation_prompt appends to a conversation; empty if it does more than append.
Text ChatTemplate::generation_prompt(const ChatInputs& inputs) const try {
  const Text with = rendered(probe_messages(wants_parts_), true, inputs);
  const Text without = rendered(probe_messages(wants_parts_), false, inputs);
  return with.view().starts_with(without.view()) ? with.slice(without.size(), with.size()) : Text();
} catch (const Error&) {
  return {};
}

std::vector<PromptPiece> ChatTemplate::render(const std::vector<Message>& messages, std::string_view prefix,
                                              const ChatInputs& inputs) const {
  std::vector<Value> values;
  for (std::size_t i = 0; i < messages.size(); ++i) values.push_back(message_value(messages[i], i, wants_parts_));
  const bool has_turn =
      std::any_of(messages.begin(), messages.end(), [](const Message& m) { return !m.token_ids.empty(); });
  PieceCutter cutter(messages, special_tokens_, source_);
  cutter.add(rendered(Value::list(std::move(values)), inputs.opens_turn, inputs),
             has_turn ? generation_prompt(inputs) : Text());
  cutter.add_text(prefix);
  return cutter.take();
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
      {%- elif part['type'] == 'video' -%}
        {{- '<|vision_start|><|video_pad|><|vision_end|>' -}}
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
