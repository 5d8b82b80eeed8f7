// cli/program.h - the command line of agon: every command with its flags.
#pragma once

#include <memory>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
}

namespace agon::cli {

// Its parse() runs the command that it finds, and throws as CLI11 does for a line that is wrong.
std::shared_ptr<CLI::App> make_program();

}  // namespace agon::cli
