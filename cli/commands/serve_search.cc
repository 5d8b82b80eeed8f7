#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "cli/commands/commands.h"
#include "cli/flags/old_names.h"
#include "cli/flags/search_flags.h"
#include "cli/flags/usage.h"
#include "cli/interrupt.h"
#include "core/error.h"
#include "tools/search/retrieve_server.h"

namespace agon::cli {
namespace {

struct ServeFlags {
  SearchFlags search;
  tools::RetrieveServerOptions server;
};

// The host in the form of a URL: IPv6 in brackets.
std::string in_address(const std::string& host) { return host.find(':') == host.npos ? host : "[" + host + "]"; }

void serve(const CLI::App& command, const ServeFlags& flags) {
  watch_interrupts();
  tools::RetrieveServer server(open_search(flags.search, command), flags.server);
  fmt::print("serving {} at http://{}:{}/retrieve; Ctrl-C ends it\n", flags.search.choice.where,
             in_address(flags.server.host), server.port());
  std::fflush(stdout);
  server.run(interrupted());
  throw Interrupted(fmt::format("serve-search: stopped after {} requests.", server.answered()));
}

}  // namespace

void add_serve_search(CLI::App& app) {
  auto flags = std::make_shared<ServeFlags>();
  CLI::App* command = app.add_subcommand("serve-search", "Serve searches over HTTP: POST /retrieve, as in Search-R1");
  add_search_options(*command, flags->search);
  command->add_option("--host", flags->server.host, "Address to listen on")
      ->type_name("<address>")
      ->capture_default_str();
  command->add_option("--port", flags->server.port, "Port to listen on; 0: any free one")
      ->type_name("<n>")
      ->check(whole_number_in(0, 65535))
      ->capture_default_str();
  command->add_option("--in-flight", flags->server.threads, "Number of requests answered at the same time")
      ->type_name("<n>")
      ->check(whole_number_in(1, 1024))
      ->capture_default_str();
  add_old_name(*command, "--threads", "--in-flight");
  command
      ->add_option("--connections", flags->server.limits.connections,
                   "Maximum number of open connections; further ones get 503")
      ->type_name("<n>")
      ->check(whole_number_in(1, 10'000))
      ->capture_default_str();
  command->callback([flags, command] { serve(*command, *flags); });
}

}  // namespace agon::cli
