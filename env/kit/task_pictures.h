// env/kit/task_pictures.h - the pictures of a task file (env/kit/task_file.h): checks, decodes and hashes them, and
// inserts them where the task refers to them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/message.h"
#include "env/suite.h"

namespace agon::env {

// Extends the hashes of the tasks, which cover their texts, by their pictures and videos. Checks the header and end of
// every picture, and the beginning of every video, with progress on stderr if that takes long. Throws Error that names
// the file, the place and the id of the first tasks whose pictures cannot be used.
void check_and_hash_pictures(const std::string& path, std::vector<FileTask>& tasks);
// Decodes every picture of a task file, and the first frame of every video, on several threads and with progress on
// stderr. Throws Error that names the place and the id of the first tasks whose pictures are damaged. (Reading a task
// file checks only header and end.)
void decode_pictures(const std::string& path, const std::vector<FileTask>& tasks);

// The parts of a prompt: each kPictureMark becomes a picture. REQUIRES: check_picture_marks (env/kit/task_file.h)
// accepts the prompt.
std::vector<Part> place_pictures(std::string_view prompt, std::vector<Image> pictures);

}  // namespace agon::env
