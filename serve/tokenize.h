// serve/tokenize.h - the endpoints /tokenize and /detokenize, in vLLM's format. The functions throw Refused.
#pragma once

#include <string_view>

#include "core/json.h"
#include "serve/chat_request.h"
#include "serve/served_policy.h"

namespace agon::serve {

// {"prompt"} or {"messages"} to {"count", "max_model_len", "tokens", "token_strs"}. A picture counts as its image
// tokens. text: the body as received.
Json answer_tokenize(const SortedJson& body, std::string_view text, ServedPolicy& policy, const PictureLimits& limits);
// {"tokens"} to {"prompt"}.
Json answer_detokenize(const SortedJson& body, const ServedPolicy& policy);

}  // namespace agon::serve
