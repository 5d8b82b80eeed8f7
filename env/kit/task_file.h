// env/kit/task_file.h - rules that all task files share: task ids and picture marks. core/json_records.h reads the
// files.
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

// The id of a task: a string, or an integer as its digits. Throws Error for any other value.
std::string task_id_of(const SortedJson& id);

// "<image>" in a prompt marks the position of a picture. Without marks, pictures come before the text.
inline constexpr std::string_view kPictureMark = "<image>";
// Throws Error if the prompt has marks, but not one per picture.
void check_picture_marks(std::string_view prompt, std::size_t pictures);

}  // namespace agon::env
