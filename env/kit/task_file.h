// env/kit/task_file.h - what suites over a file of tasks (core/json_records.h) share.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/json_text.h"
#include "core/message.h"
#include "env/suite.h"

namespace agon::env {

// Fills in the hashes of the tasks from their texts' and those of their pictures, all of which it looks at: header and
// end, with progress on stderr where that takes long. Throws Error that names the file, the place and the id of the
// first tasks whose pictures cannot be used.
void check_and_hash_pictures(const std::string& path, std::vector<FileTask>& tasks);

// The id of a task: a text, or a whole number in digits. Throws Error for another.
std::string task_id_of(const SortedJson& id);

// "<image>" in a prompt says where a picture stands; without one, they stand before it.
inline constexpr std::string_view kPictureMark = "<image>";
// Throws Error where the prompt has marks, and not one a picture.
void check_picture_marks(std::string_view prompt, std::size_t pictures);
// REQUIRES: check_picture_marks throws nothing.
std::vector<Part> place_pictures(std::string_view prompt, std::vector<Image> pictures);

}  // namespace agon::env
