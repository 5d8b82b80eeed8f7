// cli/program.h - the command line of agon: every command with its flags.
#pragma once

#include <memory>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
}

namespace agon::cli {

// Its parse() runs the command, and throws as CLI11 does for a wrong command line.
std::shared_ptr<CLI::App> make_program();

}  // namespace agon::cli
