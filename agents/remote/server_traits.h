// agents/remote/server_traits.h - the features of a server, as found by agents/remote/probe.h.
#pragma once

#include <string>

#include "agents/remote/endpoint.h"

namespace agon::agents {

struct ServerTraits {
  std::string model;        // name of the model that answers
  bool samples = true;      // "temperature" changes what it writes
  bool seeds = false;       // equal seeds give equal texts, different seeds different ones
  bool many = false;        // supports "n" answers to one request
  bool names_stop = false;  // cuts the stop string off and reports it in stop_reason or matched_stop
  bool keeps_stop = false;  // the text ends with the stop string
  bool logprobs = false;    // of generated tokens
  bool token_ids = false;   // of generated tokens
  bool scores = false;      // log-probabilities of a given turn (prompt_logprobs)
  bool echoes = false;      // the same, for a text in /v1/completions (echo)
  bool images = false;
  bool counts_tokens = false;        // in usage
  bool repeats_turn = false;         // the answer begins with the turn that it continues
  bool keeps_blank_end = false;      // white space at the end of a turn to continue reaches the model
  bool limit_is_completion = false;  // it needs max_completion_tokens instead of max_tokens
  Continuing continuing = Continuing::none;
  int context = 0;  // tokens, prompt and completion together; 0: unknown

  // Whether stop strings can be left to the server, because it reports which of them, if any, ended a text.
  bool stops() const { return names_stop || keeps_stop; }
};

}  // namespace agon::agents
