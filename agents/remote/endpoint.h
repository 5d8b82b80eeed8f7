// agents/remote/endpoint.h - a model behind a server that speaks the OpenAI protocol, as a user names it: an address,
// or a YAML file (docs/servers.md).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/json.h"

namespace agon::agents {

// Whether the text names a server and not a model folder: an address, or a file that ends in .yaml or .yml.
bool names_endpoint(std::string_view text);

// How a request asks for the rest of an assistant's turn; agents/remote/probe.h finds out which way a server takes.
// message: its last message is the assistant's, and "continue_final_message" says so (vLLM, SGLang). prefill: the same,
// without a word (llama.cpp). completions: the prompt as a text, made with the endpoint's tokenizer. none: it cannot.
// chat_template: the last message is the assistant's, and the request brings the endpoint's chat template with an end
// that leaves the turn open (transformers serve).
// The numbers stand in caches of generations: a new one comes last.
enum class Continuing { probe, message, prefill, none, completions, chat_template };
std::string_view to_string(Continuing way);  // as the YAML file has it
bool needs_template(Continuing way);         // and so the endpoint's tokenizer folder
enum class PictureForm { data_url, file_url };
// What was generated before is taken from the cache (agents/remote/generation_cache.h). record: what is new is kept
// there; replay: the server is not asked.
enum class CacheUse { off, record, replay };

struct Price {  // US dollars a million tokens
  double input = 0, output = 0;
  double of(std::int64_t prompt_tokens, std::int64_t completion_tokens) const {  // in US dollars
    return (static_cast<double>(prompt_tokens) * input + static_cast<double>(completion_tokens) * output) / 1e6;
  }
};

struct Endpoint {
  std::string url;      // "http://host:8000/v1"; no slash at its end
  std::string model;    // empty: the one that the server lists
  std::string key_env;  // the environment variable that holds the key; empty: no key is sent
  std::map<std::string, std::string> headers;
  Json extra_body = Json::object();  // keys of every request
  int max_in_flight = 64;
  double timeout = 600;  // seconds for an answer, from when it is sent
  PictureForm images = PictureForm::data_url;
  bool keep_reasoning = false;  // in front of the answer, as <think>...</think>
  int context = 0;              // tokens, prompt and completion together; 0: as the server says, if it does
  Continuing continuing = Continuing::probe;
  std::string tokenizer;  // folder of the model's tokenizer and chat template; empty: none
  std::optional<Price> price;
  CacheUse cache = CacheUse::record;

  std::string name() const;     // of the model, or of the server where it has none: for messages and records
  std::string address() const;  // as read_endpoint takes it: "http://host:8000/v1#model"
};

CacheUse parse_cache_use(const std::string& name);  // throws Error

// Throws Error that names the file and the key.
Endpoint read_endpoint(const std::string& text);
// All but the key and the values of headers: what a run's record says of it.
Json to_json(const Endpoint& endpoint);

}  // namespace agon::agents
