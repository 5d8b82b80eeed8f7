// agents/remote/probe.h - finds out which features a server supports, with about a dozen small requests. Some servers
// silently ignore what they do not support, so the probe checks the answers.
#pragma once

#include <string>
#include <vector>

#include "agents/remote/chat_client.h"
#include "agents/remote/prompt_text.h"
#include "agents/remote/server_traits.h"

namespace agon::agents {

struct Probed {
  ServerTraits traits;
  std::vector<std::string> notes;  // unexpected findings, for the user
};

// Throws Error if the server does not answer even a plain question, with the server's message and advice.
// `text`: made from the endpoint's tokenizer, or null.
Probed probe(ChatClient& client, const PromptText* text = nullptr);

}  // namespace agon::agents
