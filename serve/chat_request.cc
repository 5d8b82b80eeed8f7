#include "serve/chat_request.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "core/base64.h"
#include "core/error.h"
#include "core/pictures/image_decoder.h"
#include "core/pictures/image_header.h"
#include "core/text.h"
#include "serve/chat_tools.h"

namespace agon::serve {
namespace {

constexpr std::size_t kMostMessages = 4096;

// Reads the messages of one request, and counts its pictures.
class MessageReader {
 public:
  explicit MessageReader(const PictureLimits& limits) : limits_(limits) {}

  std::vector<Message> messages(const SortedJson& list) {
    if (list.is_null()) throw refused("messages", "'messages' is missing: a list of messages.");
    if (!list.is_array()) throw refused("messages", fmt::format("'messages' is {}, not a list.", shown(list)));
    if (list.empty()) throw refused("messages", "'messages' is empty. Give at least one message.");
    if (list.size() > kMostMessages)
      throw refused("messages",
                    fmt::format("'messages' has {} messages; at most {} are possible.", list.size(), kMostMessages));
    std::vector<Message> messages;
    for (std::size_t i = 0; i < list.size(); ++i) messages.push_back(message(list[i], fmt::format("messages[{}]", i)));
    return messages;
  }

  std::vector<Part> content(const SortedJson& content, const std::string& name) {
    if (content.is_string()) return {Part::of(content.get<std::string>())};
    if (!content.is_array())
      throw refused(name, fmt::format("'{}' is {}, not a text or a list of parts.", name, shown(content)));
    std::vector<Part> parts;
    for (std::size_t i = 0; i < content.size(); ++i) parts.push_back(part(content[i], fmt::format("{}[{}]", name, i)));
    return parts;
  }

 private:
  Message message(const SortedJson& json, const std::string& name) {
    if (!json.is_object()) throw refused(name, fmt::format("'{}' is {}, not an object.", name, shown(json)));
    Message message;
    message.role = role(json, name);
    if (json.contains("tool_calls") && !json.at("tool_calls").is_null())
      message.tool_calls = read_tool_calls(json.at("tool_calls"), name + ".tool_calls");
    if (!message.tool_calls.empty() && message.role != Role::assistant)
      throw refused(name + ".tool_calls", fmt::format("'{}' calls tools and is not the assistant's.", name));
    if (json.contains("function_call") && !json.at("function_call").is_null())
      throw Refused{{400, fmt::format("'{}.function_call' is not supported.", name), "unsupported_parameter",
                     name + ".function_call"}};
    if (!json.contains("content") || json.at("content").is_null()) {
      if (!message.tool_calls.empty()) return message;
      throw refused(name + ".content", fmt::format("'{}' has no content.", name));
    }
    message.parts = content(json.at("content"), name + ".content");
    return message;
  }

  static Role role(const SortedJson& json, const std::string& name) {
    const SortedJson& given = json.contains("role") ? json.at("role") : SortedJson();
    for (const Role one : {Role::system, Role::user, Role::assistant, Role::tool})
      if (given == std::string(to_string(one))) return one;
    if (given == "developer") return Role::system;  // OpenAI's newer name for it
    throw refused(name + ".role", fmt::format("'{}.role' is {}; there are system, developer, user, assistant and tool.",
                                              name, shown(given)));
  }

  Part part(const SortedJson& json, const std::string& name) {
    if (!json.is_object()) throw refused(name, fmt::format("'{}' is {}, not an object.", name, shown(json)));
    const std::string type = text_or_empty(json, "type");
    if (type == "text") {
      if (!json.contains("text") || !json.at("text").is_string())
        throw refused(name + ".text", fmt::format("'{}' has no text.", name));
      return Part::of(json.at("text").get<std::string>());
    }
    if (type == "image_url") return Part::of(picture(json, name + ".image_url"));
    throw refused(name + ".type", fmt::format("'{}.type' is {}; there are text and image_url.", name,
                                              json.contains("type") ? shown(json.at("type")) : "missing"));
  }

  Image picture(const SortedJson& part, const std::string& name) {
    const SortedJson& field = part.contains("image_url") ? part.at("image_url") : SortedJson();
    if (field.is_string()) return picture_of(field.get_ref<const std::string&>(), name);
    if (!field.is_object() || !field.contains("url") || !field.at("url").is_string())
      throw refused(name, fmt::format("'{}' is {}, not an object with a url.", name, shown(field)));
    return picture_of(field.at("url").get_ref<const std::string&>(), name + ".url");
  }

  Image picture_of(std::string_view url, const std::string& name) {
    constexpr std::string_view kScheme = "data:", kCoding = ";base64,";
    constexpr std::size_t kMostMediaType = 100;
    if (!to_lower(url.substr(0, kScheme.size())).starts_with(kScheme))
      throw picture_refused(name, fmt::format("'{}' is {}: this server opens no files and fetches nothing. Send the "
                                              "picture itself, as data:image/png;base64,...",
                                              name, shown_text(url, 40)));
    const std::size_t coding = url.substr(0, kMostMediaType).find(kCoding);
    const std::string media = to_lower(url.substr(kScheme.size(), std::min(coding, kMostMediaType) - kScheme.size()));
    const std::string type = media.substr(0, media.find(';'));
    const bool is_known = type == "image/png" || type == "image/jpeg" || type == "image/jpg" || type == "image/webp";
    if (coding == std::string_view::npos || !is_known)
      throw picture_refused(name, fmt::format("'{}' is {}, not data:image/png;base64,... (or jpeg, or webp).", name,
                                              shown_text(url, 40)));
    if (++pictures_ > limits_.most)
      throw picture_refused(name, fmt::format("the request has more than {} pictures.", limits_.most));
    if (limits_.known == nullptr) return decoded(url.substr(coding + kCoding.size()), name);
    Image picture = limits_.known->find(url);
    if (!picture.empty()) {
      hold(picture.width(), picture.height(), name);
      return picture;
    }
    picture = decoded(url.substr(coding + kCoding.size()), name);
    limits_.known->add(url, picture);
    return picture;
  }

  Image decoded(std::string_view base64, const std::string& name) {
    const auto bytes = bytes_of_base64(base64);
    if (!bytes) throw picture_refused(name, fmt::format("'{}' is not base64.", name));
    hold_for(*bytes, name);
    try {
      return decode_image(*bytes, name, limits_.each);
    } catch (const NoDecoder&) {
      throw Refused{{500, "this server cannot decode pictures: its decoder is missing.", "internal_error"}};
    } catch (const Error& error) {
      throw picture_refused(name, error.what());
    }
  }

  // Reserves memory for a picture before it is decoded.
  void hold_for(std::span<const std::uint8_t> bytes, const std::string& name) {
    const std::optional<ImageHeader> header = read_image_header(bytes);
    const auto side = static_cast<std::uint64_t>(limits_.each.max_side);
    if (!header || header->width > side || header->height > side) return;  // decode_image reports the error
    if (static_cast<std::int64_t>(header->width * header->height) > limits_.each.max_pixels) return;
    hold(static_cast<std::int64_t>(header->width), static_cast<std::int64_t>(header->height), name);
  }
  void hold(std::int64_t width, std::int64_t height, const std::string& name) {
    const std::int64_t pixels = width * height;
    pixels_ += pixels;
    if (pixels_ > limits_.most_pixels)
      throw picture_refused(
          name, fmt::format("the pictures have more than {} pixels in all. Scale them down.", limits_.most_pixels));
    if (limits_.hold && !limits_.hold(static_cast<std::size_t>(pixels) * 3))
      throw Refused{{503, "too many pictures are under way; try again later.", "overloaded"}};
  }

  static Refused picture_refused(const std::string& name, std::string why) {
    return {{400, std::move(why), "invalid_image", name}};
  }

  const PictureLimits& limits_;
  int pictures_ = 0;
  std::int64_t pixels_ = 0;
};

void refuse_pictures(const Message& message, const std::string& what) {
  if (std::any_of(message.parts.begin(), message.parts.end(), [](const Part& part) { return part.is_image(); }))
    throw refused("messages", what);
}

ChatCall chat_call(const SortedJson& body, const PictureLimits& limits) {
  const RequestFields fields(body);
  refuse_unsupported(fields);
  if (fields.flag("echo", false)) throw refused("echo", "'echo' is not supported in chats. Use /v1/completions.");
  ChatCall call;
  call.answer = read_answer_options(fields);
  call.answer.logprobs = fields.flag("logprobs", false);
  call.answer.top_logprobs = static_cast<int>(fields.whole("top_logprobs", 0, kMostTopLogprobs, 0));
  if (call.answer.top_logprobs > 0 && !call.answer.logprobs)
    throw refused("top_logprobs", "'top_logprobs' does nothing without \"logprobs\": true.");
  call.request.n = read_samples(fields);
  call.request.sampling = read_sampling(fields);
  call.request.sampling.alternatives = call.answer.top_logprobs;
  const char* const limit = fields.has("max_completion_tokens") ? "max_completion_tokens" : "max_tokens";
  call.request.sampling.max_tokens = static_cast<int>(fields.whole(limit, 1, std::numeric_limits<int>::max(), 0));
  Conversation conversation = read_conversation(fields, limits);
  call.request.messages = std::move(conversation.messages);
  call.request.prefix = std::move(conversation.prefix);
  return call;
}

}  // namespace

Checked<ChatCall> read_chat_call(const SortedJson& body, const PictureLimits& limits) {
  return checked([&] { return chat_call(body, limits); });
}

Conversation read_conversation(const RequestFields& fields, const PictureLimits& limits) {
  const bool opens = fields.flag("add_generation_prompt", true);
  const bool continues = fields.flag("continue_final_message", false);
  if (opens && continues)
    throw refused("continue_final_message",
                  "'continue_final_message' and 'add_generation_prompt' exclude each other. To continue the last "
                  "message, send \"add_generation_prompt\": false with it.");
  if (!opens && !continues)
    throw refused("add_generation_prompt",
                  "'add_generation_prompt' is false, and 'continue_final_message' is not true: there is no turn to "
                  "write.");
  Conversation conversation{read_messages(fields, limits), {}};
  if (!continues) return conversation;
  const Message last = std::move(conversation.messages.back());
  conversation.messages.pop_back();
  if (last.role != Role::assistant)
    throw refused("continue_final_message",
                  fmt::format("'continue_final_message' needs a last message of the assistant, not of the {}.",
                              to_string(last.role)));
  if (!last.tool_calls.empty())
    throw refused("continue_final_message", "the message to continue calls tools; it may have only text.");
  refuse_pictures(last, "the message to continue has a picture; it may have only text.");
  conversation.prefix = last.text();
  return conversation;
}

std::vector<Message> read_messages(const RequestFields& fields, const PictureLimits& limits) {
  return MessageReader(limits).messages(fields.at("messages"));
}

std::vector<Part> read_content(const SortedJson& content, const std::string& name, const PictureLimits& limits) {
  return MessageReader(limits).content(content, name);
}

}  // namespace agon::serve
