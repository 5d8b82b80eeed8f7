// agents/hub/hub_cache.h - the cache of the Hugging Face hub on this machine, in the layout of huggingface_hub, so that
// each finds what the other has fetched:
//   models--ORG--NAME/refs/main              the commit
//   models--ORG--NAME/snapshots/COMMIT/FILE  a link to the blob
//   models--ORG--NAME/blobs/ETAG             the bytes
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace agon::agents {

// "ORG/NAME", "ORG/NAME@REVISION", "ORG/NAME:FILE" or both.
struct HubName {
  std::string repository, revision = "main", file;
};
// Throws Error for a text that is no such name.
HubName parse_hub_name(std::string_view text);

std::string hub_variable(const char* name);  // of the environment, trimmed; empty: not set
std::filesystem::path hub_cache_folder();    // $HF_HUB_CACHE, $HF_HOME/hub or ~/.cache/huggingface/hub
std::filesystem::path cached_repository(const std::string& repository);
// The snapshot of a revision (a branch, or a whole commit), or the file in it; nothing: it is not there.
std::optional<std::filesystem::path> find_cached(const HubName& name);

}  // namespace agon::agents
