#include "cli/flags/cache_flag.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/flags/usage.h"

namespace agon::cli {

CLI::Option* add_cache_option(CLI::App& command, std::string& cache) {
  return command
      .add_option(
          "--cache", cache,
          "Cache of a server's generations: record (nothing is asked twice), replay (no server is asked) or off "
          "(default: record)")
      ->type_name("<name>")
      ->check(one_of({"record", "replay", "off"}));
}

void use_cache(agents::PolicySource& policy, const std::string& cache) {
  if (policy.endpoint && !cache.empty()) policy.endpoint->cache = agents::parse_cache_use(cache);
}

void require_server(const std::string& command, const std::string& cache,
                    std::span<const agents::PolicySource> policies) {
  if (!cache.empty() && std::ranges::none_of(policies, [](const auto& one) { return one.endpoint.has_value(); }))
    throw WrongUsage("{}: --cache does nothing with a model folder: it is for a policy behind a server. Leave it out.",
                     command);
}

}  // namespace agon::cli
