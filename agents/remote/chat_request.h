// agents/remote/chat_request.h - a request of /v1/chat/completions, or of /v1/completions where that is the only way to
// continue a turn or to score one.
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

// Pictures in data URLs, or as the URL of a file: a JPEG as it came, except for its metadata, everything else as a PNG.
// Those that were made last are kept. Thread-safe.
class PictureUrls {
 public:
  explicit PictureUrls(PictureForm form);
  ~PictureUrls();
  std::string url_of(const Image& picture);

 private:
  struct Kept;
  const std::unique_ptr<Kept> kept_;
};

// As OpenAI's protocol has it: ids as texts, and -100 for a token that is never drawn.
Json bias_json(const std::map<std::int32_t, float>& bias);

// A message as OpenAI's protocol has it.
Json message_json(const Message& message, PictureUrls& pictures);

struct ChatRequest {
  const std::vector<Message>& messages;
  std::string prefix;  // of the assistant's turn that it continues; empty: a turn of its own
  Sampling sampling;   // with `alternatives`, as many are asked for of each token
  int n = 1;           // REQUIRES: 1, or the server makes many
  bool asks_logprobs = false;
  bool asks_prompt_logprobs = false;
  bool streams = false;  // whoever reads the stream looks for the stop strings: the server does not get them
};

// Asks for the log-probabilities of `text` as the assistant's turn. Refers to the messages.
ChatRequest scoring_request(const std::vector<Message>& messages, std::string text);

// What a request is built from. `text` makes the prompts of /v1/completions; null: the endpoint names no tokenizer.
struct RequestParts {
  const Endpoint& endpoint;
  const ServerTraits& traits;
  PictureUrls& pictures;
  const PromptText* text = nullptr;
};
// A body with "prompt" is one of /v1/completions. Throws Error for a turn behind pictures that can only go there.
Json chat_body(const ChatRequest& request, const RequestParts& parts);

}  // namespace agon::agents
