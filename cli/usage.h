// cli/usage.h - one line for a command line that does not parse, with the nearest flag or subcommand.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

namespace agon::cli {

// Checks for flags: a number from low to high, both included (never NaN); a whole number written in digits.
CLI::Validator number_in(double low, double high);
CLI::Validator whole_number_in(std::uint64_t low, std::uint64_t high);

// "option: no '--tsks'. Did you mean '--tasks'? ... Run 'agon run --help' for the usage."
// REQUIRES: `error` was thrown by app.parse.
std::string usage_message(const CLI::App& app, const CLI::ParseError& error);

}  // namespace agon::cli
