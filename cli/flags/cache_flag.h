// cli/flags/cache_flag.h - --cache, of every command that asks a policy which may be a server.
#pragma once

#include <span>
#include <string>

#include "agents/open_policy.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
class Option;
}  // namespace CLI

namespace agon::cli {

CLI::Option* add_cache_option(CLI::App& command, std::string& cache);
// A server's cache is used as the flag says; without the flag, as its YAML file says.
void use_cache(agents::PolicySource& policy, const std::string& cache);
// Throws WrongUsage for a flag that was given where no policy is a server.
void require_server(const std::string& command, const std::string& cache,
                    std::span<const agents::PolicySource> policies);

}  // namespace agon::cli
