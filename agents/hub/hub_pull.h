// agents/hub/hub_pull.h - fetches a model of the Hugging Face hub into the cache (agents/hub/hub_cache.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "agents/hub/hub_cache.h"

namespace agon::agents {

struct HubServer {
  std::string endpoint = "https://huggingface.co";
  std::string token;     // empty: none; it is sent to the endpoint's host alone, and is in no message
  bool offline = false;  // nothing is fetched
};
HubServer hub_server();  // $HF_ENDPOINT, $HF_TOKEN or the token file of huggingface-cli, $HF_HUB_OFFLINE

// Called with the file, its bytes so far and in all.
using PullProgress = std::function<void(const std::string& file, std::int64_t done, std::int64_t all)>;

// Fetches what a model folder needs (configs, tokenizer, template, safetensors), or the one file that is named, and
// returns the snapshot's folder or file. Files that are there are not fetched again, a half one is continued. Each file
// has the size and hash that the server told, or Error is thrown and nothing takes its name; so it is for a server that
// does not answer, an answer that is no JSON, a full disk.
std::filesystem::path pull(const HubServer& server, const HubName& name, const PullProgress& progress);

}  // namespace agon::agents
