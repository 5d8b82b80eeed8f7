// serve/chat_request.h - reads the JSON of POST /v1/chat/completions: messages with pictures, sampling, and options of
// the answer.
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

// Limits of the pictures in a request. Pictures must be data URLs: this server opens no files and fetches no addresses.
struct PictureLimits {
  int most = 64;
  ImageLimits each{.max_pixels = 1l << 24, .max_encoded_bytes = 16l << 20, .most_elongated = kMostElongated};
  std::int64_t most_pixels = 1l << 26;  // of all pictures together
  // Called before a picture that takes this many bytes is decoded; false: no memory for it at the moment.
  std::function<bool(std::size_t bytes)> hold = nullptr;
  PictureCache* known = nullptr;  // pictures decoded within `each`; null: none are kept
};

struct ChatCall {
  agents::CompletionRequest request;  // max_tokens 0: as many as fit the context
  AnswerOptions answer;
};

// Reads every key except "model", which the server checks.
Checked<ChatCall> read_chat_call(const SortedJson& body, const PictureLimits& limits = {});

// A conversation to answer. prefix: the start of the assistant's turn, if the request continues its last message.
struct Conversation {
  std::vector<Message> messages;
  std::string prefix;
};
// "messages", "add_generation_prompt", "continue_final_message". Throws Refused.
Conversation read_conversation(const RequestFields& fields, const PictureLimits& limits);
// Reads "messages" alone, without the keys that say how to continue them. Throws Refused.
std::vector<Message> read_messages(const RequestFields& fields, const PictureLimits& limits);
// The content of one message: a text or a list of parts. name: its name in error messages. Throws Refused.
std::vector<Part> read_content(const SortedJson& content, const std::string& name, const PictureLimits& limits);

}  // namespace agon::serve
