// agents/remote/probe.h - finds out what a server can do, by a dozen small requests: what one server refuses, another
// ignores without a word, so that only its answers tell.
#pragma once

#include <string>
#include <vector>

#include "agents/remote/chat_client.h"
#include "agents/remote/prompt_text.h"
#include "agents/remote/server_traits.h"

namespace agon::agents {

struct Probed {
  ServerTraits traits;
  std::vector<std::string> notes;  // what surprised: for people
};

// Throws Error where the server does not answer a plain question at all: what it said, and what to do.
// `text`: of the endpoint's tokenizer, or null.
Probed probe(ChatClient& client, const PromptText* text = nullptr);

}  // namespace agon::agents
