// cli/flags/usage.h - checks of flag values, and the message for a command line that does not parse, with the nearest
// flag or subcommand.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/error.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
class ParseError;
class Validator;
}  // namespace CLI

namespace agon::cli {

// The error of a command line that parses but is wrong by itself: an unknown name, flags that contradict each other, a
// flag without effect. Its exit code is that of a command line that does not parse.
class WrongUsage : public Error {
 public:
  using Error::Error;
};
// Returns read(), which interprets words of the command line. Rethrows its Error as WrongUsage.
template <typename Read>
auto of_flags(const Read& read) {
  try {
    return read();
  } catch (const Error& error) {
    throw WrongUsage("{}", error.what());
  }
}

// The argument of CLI::Option::check: returns what is wrong with a flag's text, or an empty text.
using FlagCheck = std::function<std::string(const std::string& text)>;
FlagCheck some_text();                                             // not empty
FlagCheck number_in(double low, double high);                      // both included; never NaN
inline constexpr double kLeastTopP = 1e-6;                         // at 0 nothing would be left to sample
FlagCheck whole_number_in(std::uint64_t low, std::uint64_t high);  // in digits
// The names that a flag takes; --help and the shells' completions know them.
CLI::Validator one_of(std::vector<std::string> names);

// "option: no '--tsks'. Did you mean '--tasks'? ... Run 'agon run --help' for the usage."
// REQUIRES: `error` was thrown by app.parse.
std::string usage_message(const CLI::App& app, const CLI::ParseError& error);

}  // namespace agon::cli
