// cli/flags/cache_flag.h - the flag --cache of the commands whose policy may be a server.
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
// Uses the server's cache as the flag says or, without the flag, as the server's YAML file says.
void use_cache(agents::PolicySource& policy, const std::string& cache);
// Throws WrongUsage if the flag was given and no policy is a server.
void require_server(const std::string& command, const std::string& cache,
                    std::span<const agents::PolicySource> policies);

}  // namespace agon::cli
