#include "cli/flags/old_names.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

namespace agon::cli {

void add_old_name(CLI::App& command, const std::string& old_name, const std::string& name) {
  CLI::Option* renamed = command.get_option(name);
  const auto take = [&command, renamed, old_name, name](const std::string& value) {
    warn_of_old_name(command.get_name(), old_name, name);
    renamed->add_result(value);
    renamed->run_callback();  // the parser may already have passed it
  };
  command.add_option_function<std::string>(old_name, take)->group(kOldNames);
}

void warn_of_old_name(const std::string& command, const std::string& old_name, const std::string& name) {
  std::fputs(
      fmt::format("{}: {} is called {} now. The next version drops the old name.\n", command, old_name, name).c_str(),
      stderr);
}

}  // namespace agon::cli
