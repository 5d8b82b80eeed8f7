// agents/remote/server_traits.h - what a server can do, as agents/remote/probe.h found out.
#pragma once

#include <string>

#include "agents/remote/endpoint.h"

namespace agon::agents {

struct ServerTraits {
  std::string model;        // that it answers as
  bool samples = true;      // "temperature" changes what it writes
  bool seeds = false;       // equal seeds give equal texts, other seeds other ones
  bool many = false;        // "n" answers to one request
  bool names_stop = false;  // what it cut off, it says in stop_reason or matched_stop
  bool keeps_stop = false;  // the text ends with the stop string
  bool logprobs = false;    // of what it writes
  bool token_ids = false;   // of what it writes
  bool scores = false;      // log-probabilities of a turn that it is given (prompt_logprobs)
  bool echoes = false;      // the same, of a text of /v1/completions (echo)
  bool images = false;
  bool counts_tokens = false;        // usage
  bool repeats_turn = false;         // the answer begins with the turn that it continues
  bool keeps_blank_end = false;      // of a turn that is continued
  bool limit_is_completion = false;  // it wants max_completion_tokens in place of max_tokens
  Continuing continuing = Continuing::none;
  int context = 0;  // tokens, prompt and completion together; 0: it does not say

  // Whether stop strings can be left to the server: it says which of them, if any, ended a text.
  bool stops() const { return names_stop || keeps_stop; }
};

}  // namespace agon::agents
