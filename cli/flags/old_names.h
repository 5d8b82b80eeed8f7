// cli/flags/old_names.h - old names of renamed flags. They still work, with a line on stderr that gives the new name;
// the next version drops them.
#pragma once

#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
}

namespace agon::cli {

inline constexpr const char* kOldNames = "Old names";  // group of options that --help does not show

// Adds `old_name` ("--rm") as a hidden synonym of `name` ("--reward-model"), an option of the command.
void add_old_name(CLI::App& command, const std::string& old_name, const std::string& name);

// "run: --verifier is called --reward-model now. The next version drops the old name."
void warn_of_old_name(const std::string& command, const std::string& old_name, const std::string& name);

}  // namespace agon::cli
