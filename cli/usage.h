// cli/usage.h - one line for a command line that does not parse, with the nearest flag or subcommand.
#pragma once

#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
class ParseError;
}  // namespace CLI

namespace agon::cli {

// "option: no '--tsks'. Did you mean '--tasks'? ... Run 'agon run --help' for the usage."
// REQUIRES: `error` was thrown by app.parse.
std::string usage_message(const CLI::App& app, const CLI::ParseError& error);

}  // namespace agon::cli
