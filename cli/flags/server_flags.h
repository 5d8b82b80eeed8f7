// cli/flags/server_flags.h - flags of the commands that serve over HTTP: where they listen, and how many requests and
// connections they take.
#pragma once

#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
}

namespace agon::cli {

// --host, --port, --in-flight and --connections. The values must outlive the parse; their current values are the
// defaults.
void add_server_options(CLI::App& command, const std::string& host_help, std::string& host, int& port, int& in_flight,
                        int& connections);
std::string host_in_address(const std::string& host);  // as in a URL: IPv6 in brackets

}  // namespace agon::cli
