// env/grading/answer/concluded.h - decides from the wording which option a text concludes with, if it names several.
// Pure functions of plain texts.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agon::env {

// The option that the last sentence concludes with: "so it's Berlin", "I'll go with Berlin.", "The highest is Friday.",
// "Most likely: Berlin", "While Paris is larger, Berlin is the capital." nullopt if that sentence asks, denies,
// doubts or names two.
std::optional<std::size_t> concluded_by_text(std::string_view plain, const std::vector<std::string>& options);

// The option that the first sentence gives, if the rest only explains it or denies others: "The city is Berlin. Paris
// does not have this gate.", "Bob, since Alice is shorter." nullopt if the rest corrects it or turns to other options.
std::optional<std::size_t> stated_first(std::string_view plain, const std::vector<std::string>& options);

// The only option that the text says its subject is: "The object is a microscope, used in .. . A telescope, in
// contrast, ..", "If today is Thursday, it will be Monday." What it says in a condition, a doubt or a denial does not
// count. nullopt if two are left, or if the text revises its answer.
std::optional<std::size_t> only_predicate(std::string_view plain, const std::vector<std::string>& options);

}  // namespace agon::env
