// agents/hub/hub_cache.h - the Hugging Face hub's cache on this machine. It has the layout of huggingface_hub, so that
// agon and huggingface_hub find each other's downloads:
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
// Throws Error for a text of any other form.
HubName parse_hub_name(std::string_view text);

std::string hub_variable(const char* name);  // an environment variable, trimmed; empty: not set
std::filesystem::path hub_cache_folder();    // $HF_HUB_CACHE, $HF_HOME/hub or ~/.cache/huggingface/hub
std::filesystem::path cached_repository(const std::string& repository);
// The snapshot of a revision (a branch, or a full commit hash), or the named file in it; nullopt if not cached.
std::optional<std::filesystem::path> find_cached(const HubName& name);

}  // namespace agon::agents
