#include "cli/help/command_table.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/flags/old_names.h"
#include "core/text.h"

namespace agon::cli {
namespace {

constexpr const char *kArguments = "Arguments", *kOptions = "Options";

// CLI11 writes TEXT:{test,train}: the kind of value and the check.
std::string value_of(const std::string& type) {
  const std::string kind = type.substr(0, type.find(':'));
  if (kind == "TEXT") return "<text>";
  if (kind == "INT" || kind == "UINT") return "<n>";
  if (kind == "FLOAT") return "<number>";
  return kind;
}

std::vector<std::string> choices_of(const std::string& type) {
  const std::size_t begin = type.find(":{"), end = type.find('}', begin);
  if (begin == std::string::npos || end == std::string::npos) return {};
  std::vector<std::string> choices;
  for (const std::string& choice : split(type.substr(begin + 2, end - begin - 2), ",")) choices.push_back(choice);
  return choices;
}

std::string description_of(const CLI::Option& option) {
  std::string standard = option.get_default_str();
  if (standard.starts_with('[') && standard.ends_with(']')) standard = standard.substr(1, standard.size() - 2);
  const std::string text = option.get_description();
  const bool told = standard.empty() || text.find("(default: ") != std::string::npos;
  return told ? text : fmt::format("{} (default: {})", text, standard);
}

OptionText option_text(const CLI::Option& option) {
  OptionText text;
  const std::string type = option.get_type_size() == 0 ? "" : option.get_type_name();
  text.value = value_of(type);
  text.choices = choices_of(type);
  text.description = description_of(option);
  text.group = option.get_group();
  text.required = option.get_required();
  text.repeated = option.get_expected_max() == CLI::detail::expected_max_vector_size;
  return text;
}

}  // namespace

CommandText command_text(const CLI::App& command) {
  CommandText result{command.get_name(), command.get_description(), command.get_group(), {}};
  std::vector<OptionText> positional, options, last;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group() == kOldNames) continue;
    OptionText text = option_text(*option);
    if (option->get_positional()) {
      positional.push_back(text);
      positional.back().name = option->get_name(true, false);
      positional.back().group = kArguments;
      positional.back().positional = true;
    }
    if (!option->nonpositional()) continue;
    const bool help = option == command.get_help_ptr();
    text.name = help ? "-h, --help" : "--" + option->get_lnames().front();
    text.required = text.required && !option->get_positional();
    (help ? last : options).push_back(std::move(text));
  }
  result.options = std::move(positional);
  options.insert(options.end(), last.begin(), last.end());
  for (const std::string& group : groups_of(options))
    std::copy_if(options.begin(), options.end(), std::back_inserter(result.options),
                 [&](const OptionText& option) { return option.group == group; });
  return result;
}

std::vector<CommandText> command_texts(const CLI::App& program) {
  std::vector<CommandText> texts;
  for (const CLI::App* command : program.get_subcommands({})) texts.push_back(command_text(*command));
  return texts;
}

std::string usage_text(const CommandText& command) {
  std::string text = fmt::format("agon {} [options]", command.name);
  for (const OptionText& option : command.options) {
    if (!option.positional) continue;
    const std::string form = option.name + (option.repeated ? "..." : "");
    text += option.required ? " " + form : " [" + form + "]";
  }
  return text;
}

std::string option_form(const OptionText& option) {
  if (option.positional) return option.name + (option.repeated ? "..." : "");
  return option.name + (option.value.empty() ? "" : " " + option.value) + (option.repeated ? "..." : "");
}

}  // namespace agon::cli
