// serve/chat_request.h - reads the JSON of POST /v1/chat/completions: messages with pictures, how to sample, what to
// answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/policy.h"
#include "core/message.h"
#include "serve/answer_options.h"
#include "serve/picture_cache.h"

namespace agon::serve {

// Of the pictures of a request. They come as data URLs and nothing else: this server opens no file and fetches nothing.
struct PictureLimits {
  int most = 64;
  ImageLimits each{.max_pixels = 1l << 24, .max_encoded_bytes = 16l << 20, .most_elongated = kMostElongated};
  std::int64_t most_pixels = 1l << 26;  // of all of them
  // Is asked before a picture of so many bytes is decoded; false: there is no room for it at the moment.
  std::function<bool(std::size_t bytes)> hold = nullptr;
  PictureCache* known = nullptr;  // of pictures that were decoded within `each`; null: none are kept
};

struct ChatCall {
  agents::CompletionRequest request;  // max_tokens 0: as many as the context holds
  AnswerOptions answer;
};

// Everything but "model", which is the server's business.
Checked<ChatCall> read_chat_call(const SortedJson& body, const PictureLimits& limits = {});

// A conversation: its messages and, where the last one is to be continued, what the assistant's turn already holds.
struct Conversation {
  std::vector<Message> messages;
  std::string prefix;
};
// "messages", "add_generation_prompt", "continue_final_message". Throws Refused.
Conversation read_conversation(const RequestFields& fields, const PictureLimits& limits);
// "messages" alone, whatever is to be done with them. Throws Refused.
std::vector<Message> read_messages(const RequestFields& fields, const PictureLimits& limits);
// The content of one message: a text or a list of parts. `name` is for what is wrong. Throws Refused.
std::vector<Part> read_content(const SortedJson& content, const std::string& name, const PictureLimits& limits);

}  // namespace agon::serve
