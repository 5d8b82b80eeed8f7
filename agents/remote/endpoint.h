// agents/remote/endpoint.h - the description of a model on a server that speaks the OpenAI protocol. The user names it
// by an address or a YAML file (docs/servers.md).
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

// How a request asks for the rest of an assistant's turn. agents/remote/probe.h finds out which way a server supports.
//   message        the last message is the assistant's, with "continue_final_message" (vLLM, SGLang)
//   prefill        the same, without that key (llama.cpp)
//   completions    the prompt as a text, made with the endpoint's tokenizer
//   chat_template  the last message is the assistant's, and the request contains the endpoint's chat template, changed
//                  to leave the turn open (transformers serve)
//   none           the server cannot continue a turn
// Generation caches store the numbers, so new values go last.
enum class Continuing { probe, message, prefill, none, completions, chat_template };
std::string_view to_string(Continuing way);  // the name in the YAML file
bool needs_template(Continuing way);         // whether it needs the chat template in the endpoint's tokenizer folder
enum class PictureForm { data_url, file_url };
// How the cache of generations (agents/remote/generation_cache.h) is used. record, replay: completions in it are
// reused. record: new ones are added. replay: the server is never asked.
enum class CacheUse { off, record, replay };

struct Price {  // US dollars per million tokens
  double input = 0, output = 0;
  double of(std::int64_t prompt_tokens, std::int64_t completion_tokens) const {  // in US dollars
    return (static_cast<double>(prompt_tokens) * input + static_cast<double>(completion_tokens) * output) / 1e6;
  }
};

struct Endpoint {
  std::string url;      // "http://host:8000/v1", without a slash at its end
  std::string model;    // empty: the one that the server lists
  std::string key_env;  // the environment variable that holds the key; empty: no key is sent
  std::map<std::string, std::string> headers;
  Json extra_body = Json::object();  // keys added to every request
  int max_in_flight = 64;
  double timeout = 600;  // seconds from sending a request to its answer
  PictureForm images = PictureForm::data_url;
  bool keep_reasoning = false;  // put it before the answer as <think>...</think>
  int context = 0;              // tokens, prompt and completion together; 0: as the server reports, if at all
  Continuing continuing = Continuing::probe;
  std::string tokenizer;  // folder of the model's tokenizer and chat template; empty: none
  std::optional<Price> price;
  CacheUse cache = CacheUse::record;

  std::string name() const;     // for messages and records: the model, or without one the server's url
  std::string address() const;  // in a form for read_endpoint: "http://host:8000/v1#model"
};

CacheUse parse_cache_use(const std::string& name);  // throws Error

// Throws Error that names the file and the key.
Endpoint read_endpoint(const std::string& text);
// The endpoint as a run's record stores it: without the key and the headers' values.
Json to_json(const Endpoint& endpoint);

}  // namespace agon::agents
