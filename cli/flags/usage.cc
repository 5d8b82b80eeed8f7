#include "cli/flags/usage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

#include "cli/flags/old_names.h"
#include "cli/flags/parse_whole.h"
#include "core/text.h"

namespace agon::cli {
namespace {

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group() == kOldNames) continue;
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> subcommand_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::string unexpected(const CLI::App& app, const CLI::App& command, const std::string& argument) {
  if (argument.starts_with("-"))
    return unknown_name_message("option", argument.substr(0, argument.find('=')), option_names(command));
  if (&app == &command) return unknown_name_message("subcommand", argument, subcommand_names(app));
  return command.get_name() + " takes no further argument, got '" + argument + "'.";
}

// CLI11's message, reworded if it hides what happened.
std::string told(std::string message) {
  constexpr std::string_view kTwice = " At Most 1 required but received ";
  if (const std::size_t at = message.find(kTwice); at != message.npos)
    message.replace(at, kTwice.size(), " given once at most, but there are ");
  return message;
}

}  // namespace

FlagCheck some_text() {
  return [](const std::string& text) { return text.empty() ? "an empty text does nothing; leave it out" : ""; };
}

FlagCheck number_in(double low, double high) {
  return [low, high](const std::string& text) {
    const auto number = parse_whole<double>(text);
    if (number && *number >= low && *number <= high) return std::string();
    return fmt::format("'{}' is not a number from {} to {}", text, low, high);
  };
}

FlagCheck whole_number_in(std::uint64_t low, std::uint64_t high) {
  return [low, high](const std::string& text) {
    const auto number = parse_whole<std::uint64_t>(text);
    if (number && *number >= low && *number <= high) return std::string();
    return fmt::format("'{}' is not a whole number from {} to {}", text, low, high);
  };
}

CLI::Validator one_of(std::vector<std::string> names) {
  const std::string kinds = fmt::format("{{{}}}", fmt::join(names, ","));  // in the style of CLI11
  const auto check = [names = std::move(names)](std::string& text) {
    if (std::ranges::count(names, text) > 0) return std::string();
    return fmt::format("'{}' is not one of {}", text, fmt::join(names, ", "));
  };
  return CLI::Validator(check, kinds);
}

std::string usage_message(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  const CLI::App& command = chosen.empty() ? app : *chosen.front();
  const std::vector<std::string> extras = app.remaining(true);
  // An unknown name explains more than the missing option that it causes.
  const std::string what = extras.empty() ? told(error.what()) : unexpected(app, command, extras.front());
  const std::string full_name = &command == &app ? app.get_name() : app.get_name() + " " + command.get_name();
  return what + (what.ends_with(".") ? "" : ".") + " Run '" + full_name + " --help' for the usage.";
}

}  // namespace agon::cli
