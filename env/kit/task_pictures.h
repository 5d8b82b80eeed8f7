// env/kit/task_pictures.h - the pictures of a task file (env/kit/task_file.h): looked at, decoded, told apart and put
// in their places.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/message.h"
#include "env/suite.h"

namespace agon::env {

// Fills in the hashes of the tasks from their texts' and those of their pictures, all of which it looks at: header and
// end, with progress on stderr where that takes long. Throws Error that names the file, the place and the id of the
// first tasks whose pictures cannot be used.
void check_and_hash_pictures(const std::string& path, std::vector<FileTask>& tasks);
// Decodes every picture of a task file, by several threads and with progress on stderr. Throws Error that names the
// place and the id of the first tasks whose pictures are damaged. (Header and end are looked at when the file is read.)
void decode_pictures(const std::string& path, const std::vector<FileTask>& tasks);

// "<image>" in a prompt says where a picture stands; without one, they stand before it.
inline constexpr std::string_view kPictureMark = "<image>";
// Throws Error where the prompt has marks, and not one a picture.
void check_picture_marks(std::string_view prompt, std::size_t pictures);
// REQUIRES: check_picture_marks throws nothing.
std::vector<Part> place_pictures(std::string_view prompt, std::vector<Image> pictures);

}  // namespace agon::env
