#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>

#include "cli/commands/commands.h"
#include "cli/flags/old_names.h"
#include "cli/flags/search_flags.h"
#include "cli/flags/server_flags.h"
#include "cli/interrupt.h"
#include "core/error.h"
#include "tools/search/retrieve_server.h"

namespace agon::cli {
namespace {

struct ServeFlags {
  SearchFlags search;
  tools::RetrieveServerOptions server;
};

void serve(const CLI::App& command, const ServeFlags& flags) {
  watch_interrupts();
  std::signal(SIGPIPE, SIG_IGN);  // the reader of its first line may have closed the pipe
  tools::RetrieveServer server(open_search(flags.search, command), flags.server);
  fmt::print("serving {} at http://{}:{}/retrieve; Ctrl-C ends it\n", flags.search.choice.where,
             host_in_address(flags.server.host), server.port());
  std::fflush(stdout);
  server.run(interrupted());
  throw Interrupted(fmt::format("serve-search: stopped after {} requests.", server.answered()));
}

}  // namespace

void add_serve_search(CLI::App& app) {
  auto flags = std::make_shared<ServeFlags>();
  CLI::App* command = app.add_subcommand("serve-search", "Serve searches over HTTP: POST /retrieve, as in Search-R1");
  add_search_options(*command, flags->search);
  add_server_options(*command, "Address to listen on", flags->server.host, flags->server.port, flags->server.threads,
                     flags->server.limits.connections);
  add_old_name(*command, "--threads", "--in-flight");
  command->callback([flags, command] { serve(*command, *flags); });
}

}  // namespace agon::cli
