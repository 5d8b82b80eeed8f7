// agents/hub/hub_pull.h - downloads a model of the Hugging Face hub into the cache (agents/hub/hub_cache.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "agents/hub/hub_cache.h"

namespace agon::agents {

struct HubServer {
  std::string endpoint = "https://huggingface.co";
  std::string token;     // empty: none; sent only to the endpoint, and never in an error message
  bool offline = false;  // download nothing
};
HubServer hub_server();  // $HF_ENDPOINT, $HF_TOKEN or the token file of huggingface-cli, $HF_HUB_OFFLINE

// Called with the file's name, its bytes so far, and its total bytes.
using PullProgress = std::function<void(const std::string& file, std::int64_t done, std::int64_t all)>;

// Downloads the files of a model folder (configs, tokenizer, template, safetensors), or only the file that `name`
// names. Returns the snapshot's folder or that file. Existing files are skipped, partial ones are resumed. Each file is
// checked against the size that the server reported and, if its etag is a hash, against that hash. Throws Error if they
// differ, if the server does not answer or its answer is not JSON, and if the disk is full; the file then does not
// appear under its name.
std::filesystem::path pull(const HubServer& server, const HubName& name, const PullProgress& progress);

}  // namespace agon::agents
