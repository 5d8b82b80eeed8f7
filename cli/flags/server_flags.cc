#include "cli/flags/server_flags.h"

#include <CLI/CLI.hpp>

#include "cli/flags/usage.h"

namespace agon::cli {

void add_server_options(CLI::App& command, const std::string& host_help, std::string& host, int& port, int& in_flight,
                        int& connections) {
  command.add_option("--host", host, host_help)->type_name("<address>")->check(some_text())->capture_default_str();
  command.add_option("--port", port, "Port to listen on; 0: any free one")
      ->type_name("<n>")
      ->check(whole_number_in(0, 65535))
      ->capture_default_str();
  command.add_option("--in-flight", in_flight, "Number of requests answered at the same time")
      ->type_name("<n>")
      ->check(whole_number_in(1, 1024))
      ->capture_default_str();
  command
      .add_option(
          "--connections", connections,
          "Maximum number of open connections; one more closes the longest idle one, or gets 503 if none is idle")
      ->type_name("<n>")
      ->check(whole_number_in(1, 10'000))
      ->capture_default_str();
}

std::string host_in_address(const std::string& host) { return host.find(':') == host.npos ? host : "[" + host + "]"; }

}  // namespace agon::cli
