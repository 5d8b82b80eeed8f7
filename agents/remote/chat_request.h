// agents/remote/chat_request.h - builds requests to /v1/chat/completions, or to /v1/completions if the server can
// continue or score a turn only there.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "agents/policy.h"
#include "agents/remote/endpoint.h"
#include "agents/remote/prompt_text.h"
#include "agents/remote/server_traits.h"
#include "core/json.h"

namespace agon::agents {

// Makes URLs of pictures, either data URLs or URLs of files. A JPEG is sent unchanged except for its metadata,
// everything else as PNG. Recently made URLs are cached. Thread-safe.
class PictureUrls {
 public:
  explicit PictureUrls(PictureForm form);
  ~PictureUrls();
  std::string url_of(const Image& picture);

 private:
  struct Kept;
  const std::unique_ptr<Kept> kept_;
};

// A bias in OpenAI's protocol: ids as texts, and -100 for a token that is never drawn.
Json bias_json(const std::map<std::int32_t, float>& bias);

// A message in OpenAI's protocol.
Json message_json(const Message& message, PictureUrls& pictures);

struct ChatRequest {
  const std::vector<Message>& messages;
  std::string prefix;  // start of the assistant's turn to continue; empty: a new turn
  Sampling sampling;   // its `alternatives` are requested for each token
  int n = 1;           // REQUIRES: 1, unless ServerTraits::many
  bool asks_logprobs = false;
  bool asks_prompt_logprobs = false;
  bool streams = false;  // true: the server gets no stop strings, the reader of the stream looks for them
};

// A request for the log-probabilities of `text` as the assistant's turn. It refers to `messages`.
ChatRequest scoring_request(const std::vector<Message>& messages, std::string text);

// Everything that a request is built from. `text` makes the prompts of /v1/completions; null: no tokenizer is
// configured.
struct RequestParts {
  const Endpoint& endpoint;
  const ServerTraits& traits;
  PictureUrls& pictures;
  const PromptText* text = nullptr;
};
// The body of a request. With a "prompt" it is for /v1/completions. Throws Error if only /v1/completions can continue
// the turn and the messages have pictures.
Json chat_body(const ChatRequest& request, const RequestParts& parts);

}  // namespace agon::agents
