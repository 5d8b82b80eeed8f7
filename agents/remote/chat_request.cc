#include "agents/remote/chat_request.h"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <mutex>

#include "core/base64.h"
#include "core/error.h"
#include "core/file.h"
#include "core/recently_used.h"

namespace agon::agents {
namespace {

constexpr std::int64_t kMostKeptBytes = 64 << 20;

Json content_of(const Message& message, PictureUrls& pictures) {
  const bool is_text =
      std::all_of(message.parts.begin(), message.parts.end(), [](const Part& p) { return p.is_text(); });
  if (is_text) return message.text();
  Json content = Json::array();
  for (const Part& part : message.parts) {
    if (part.is_video())
      throw Error("policy: a message has a video, and a server accepts only pictures and text. Use a model folder.");
    if (part.is_image())
      content.push_back({{"type", "image_url"}, {"image_url", {{"url", pictures.url_of(part.image)}}}});
    else
      content.push_back({{"type", "text"}, {"text", part.text}});
  }
  return content;
}

// The file that is sent: the JPEG if the picture came as one, else a PNG.
std::span<const std::uint8_t> file_of(const Image& picture) {
  return picture.jpeg().empty() ? picture.png() : picture.jpeg();
}
std::string text_of(std::span<const std::uint8_t> bytes) { return {bytes.begin(), bytes.end()}; }

// OpenAI's protocol has no bans; a bias has the same effect for single tokens.
std::map<std::int32_t, float> bias_with_bans(const LogitChanges& changes) {
  std::map<std::int32_t, float> bias = changes.bias;
  for (const std::vector<std::int32_t>& run : changes.banned) {
    if (run.size() != 1)
      throw Error("policy: a run of {} tokens is banned, and a server bans single ones. Leave it out.", run.size());
    bias[run.front()] = -std::numeric_limits<float>::infinity();
  }
  return bias;
}

void add_sampling(Json& body, const ChatRequest& request, const ServerTraits& traits) {
  const Sampling& sampling = request.sampling;
  const bool is_text = body.contains("prompt");
  body[traits.limit_is_completion && !is_text ? "max_completion_tokens" : "max_tokens"] = sampling.max_tokens;
  body["temperature"] = sampling.temperature;
  if (sampling.temperature > 0) {
    if (sampling.top_p < 1) body["top_p"] = sampling.top_p;
    if (sampling.top_k > 0) body["top_k"] = sampling.top_k;
    if (traits.seeds) body["seed"] = sampling.seed >> 33;  // some servers store it as a signed 32-bit number
  }
  const LogitChanges& changes = sampling.changes;
  if (sampling.min_p > 0) body["min_p"] = sampling.min_p;
  if (changes.repetition_penalty != 1) body["repetition_penalty"] = changes.repetition_penalty;
  if (changes.presence_penalty != 0) body["presence_penalty"] = changes.presence_penalty;
  if (changes.frequency_penalty != 0) body["frequency_penalty"] = changes.frequency_penalty;
  if (const auto bias = bias_with_bans(changes); !bias.empty()) body["logit_bias"] = bias_json(bias);
  if (!sampling.stop.empty() && !request.streams) body["stop"] = sampling.stop;
  if (request.n > 1) body["n"] = request.n;
  if (is_text && (request.asks_prompt_logprobs || (request.asks_logprobs && traits.logprobs))) {
    body["logprobs"] = std::max(1, sampling.alternatives);
  } else if (request.asks_logprobs && traits.logprobs) {
    body["logprobs"] = true;
    if (sampling.alternatives > 0) body["top_logprobs"] = sampling.alternatives;
  }
}

}  // namespace

struct PictureUrls::Kept {
  PictureForm form;
  std::mutex mutex;
  RecentlyUsed<std::string> urls{kMostKeptBytes};
  std::filesystem::path folder;  // of the files; removed with this object

  std::string file_url(const Image& picture) {
    const std::lock_guard lock(mutex);
    if (folder.empty()) {
      std::string name = (std::filesystem::temp_directory_path() / "agon-pictures-XXXXXX").string();
      if (::mkdtemp(name.data()) == nullptr) throw Error("policy: no folder for pictures can be made at {}.", name);
      folder = name;
    }
    const std::filesystem::path file = folder / (picture.hash().hex() + (picture.jpeg().empty() ? ".png" : ".jpg"));
    if (!std::filesystem::exists(file)) write_file_atomically(file, text_of(file_of(picture)));
    return "file://" + file.string();
  }
};

PictureUrls::PictureUrls(PictureForm form) : kept_(new Kept{.form = form}) {}

PictureUrls::~PictureUrls() {
  std::error_code ignored;
  if (!kept_->folder.empty()) std::filesystem::remove_all(kept_->folder, ignored);
}

std::string PictureUrls::url_of(const Image& picture) {
  const Hash128 hash = picture.hash();
  {
    const std::lock_guard lock(kept_->mutex);
    if (const auto known = kept_->urls.find(hash)) return *known;
  }
  if (kept_->form == PictureForm::file_url) return kept_->file_url(picture);
  const bool is_jpeg = !picture.jpeg().empty();
  const auto url = std::make_shared<const std::string>(
      (is_jpeg ? "data:image/jpeg;base64," : "data:image/png;base64,") + base64(file_of(picture)));
  const std::lock_guard lock(kept_->mutex);
  kept_->urls.add(hash, url, std::ssize(*url));
  return *url;
}

Json bias_json(const std::map<std::int32_t, float>& bias) {
  constexpr float kNever = -100;
  Json json = Json::object();
  for (const auto& [id, value] : bias) json[std::to_string(id)] = std::max(value, kNever);
  return json;
}

Json message_json(const Message& message, PictureUrls& pictures) {
  Json json{{"role", to_string(message.role)}, {"content", content_of(message, pictures)}};
  for (const ToolCall& call : message.tool_calls)
    json["tool_calls"].push_back({{"id", call.id},
                                  {"type", "function"},
                                  {"function", {{"name", call.name}, {"arguments", to_text(call.arguments)}}}});
  return json;
}

ChatRequest scoring_request(const std::vector<Message>& messages, std::string text) {
  ChatRequest request{.messages = messages, .prefix = std::move(text), .sampling = {}, .asks_prompt_logprobs = true};
  request.sampling.max_tokens = 1;
  request.sampling.temperature = 0;
  return request;
}

namespace {

bool is_of_completions(const ChatRequest& request, const RequestParts& parts) {
  if (!parts.text || request.prefix.empty()) return false;
  return request.asks_prompt_logprobs ? parts.traits.echoes : parts.traits.continuing == Continuing::completions;
}

void add_messages(Json& body, const ChatRequest& request, const ServerTraits& traits, PictureUrls& pictures) {
  body["messages"] = Json::array();
  for (const Message& message : request.messages) body["messages"].push_back(message_json(message, pictures));
  if (!request.prefix.empty()) {
    body["messages"].push_back({{"role", "assistant"}, {"content", request.prefix}});
    if (traits.continuing == Continuing::message || request.asks_prompt_logprobs) {
      body["continue_final_message"] = true;
      body["add_generation_prompt"] = false;
    }
  }
}

}  // namespace

Json chat_body(const ChatRequest& request, const RequestParts& parts) {
  const auto& [endpoint, traits, pictures, text] = parts;
  Json body = Json::object();
  const std::string& model = endpoint.model.empty() ? traits.model : endpoint.model;
  if (!model.empty()) body["model"] = model;
  if (is_of_completions(request, parts))
    body["prompt"] = text->of(request.messages, request.prefix);
  else
    add_messages(body, request, traits, pictures);
  add_sampling(body, request, traits);
  if (request.asks_prompt_logprobs && body.contains("prompt"))
    body["echo"] = true;
  else if (request.asks_prompt_logprobs)
    body["prompt_logprobs"] = 0;  // 0: only of the prompt's own tokens
  if (request.streams) {
    body["stream"] = true;
    body["stream_options"] = {{"include_usage", true}};
  }
  for (const auto& [key, value] : endpoint.extra_body.items()) body[key] = value;
  if (text && !request.prefix.empty() && !request.asks_prompt_logprobs &&
      traits.continuing == Continuing::chat_template)
    body["chat_template_kwargs"]["chat_template"] = text->continuing_jinja();
  return body;
}

}  // namespace agon::agents
