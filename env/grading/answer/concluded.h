// env/grading/answer/concluded.h - decides from the wording which option a text concludes with, where it names several.
// Pure functions of plain texts.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agon::env {

// The option that the last sentence concludes with: "so it's Berlin", "I'll go with Berlin.", "The highest is Friday.",
// "Most likely: Berlin", "While Paris is larger, Berlin is the capital." Nothing where that sentence asks, denies,
// doubts or names two.
std::optional<std::size_t> concluded_by_text(std::string_view plain, const std::vector<std::string>& options);

// The option that the first sentence gives, where what follows only explains it or denies others: "The city is Berlin.
// Paris does not have this gate.", "Bob, since Alice is shorter." Nothing where the rest corrects it or goes on to
// other options.
std::optional<std::size_t> stated_first(std::string_view plain, const std::vector<std::string>& options);

// The only option that the text says something is: "The object is a microscope, used in .. . A telescope, in contrast,
// ..", "If today is Thursday, it will be Monday." Nothing where it says so of two, in a condition, or doubts.
std::optional<std::size_t> only_predicate(std::string_view plain, const std::vector<std::string>& options);

}  // namespace agon::env
