// env/kit/task_file.h - what the suites with a file of tasks share (core/json_records.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "core/json_parse.h"
#include "core/message.h"
#include "env/suite.h"

namespace agon::env {

// The id of a task: a text, or a whole number in digits. Throws Error for any other value.
std::string task_id_of(const SortedJson& id);

// "<image>" in a prompt says where a picture stands; without marks, pictures stand before the text.
inline constexpr std::string_view kPictureMark = "<image>";
// Throws Error where the prompt has marks, but not one per picture.
void check_picture_marks(std::string_view prompt, std::size_t pictures);

}  // namespace agon::env
