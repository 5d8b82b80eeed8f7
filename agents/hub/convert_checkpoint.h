// agents/hub/convert_checkpoint.h - converts a checkpoint to a hub folder or to a GGUF file. In GGUF a vision tower is
// a file of its own, mmproj-NAME.gguf next to NAME.gguf.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

namespace agon::agents {

// Called with the number of tensors done, and of all tensors.
using ConvertProgress = std::function<void(std::size_t done, std::size_t all)>;

// `type` is the type of the matrices; in a GGUF file vectors stay F32. Throws Error for a checkpoint that cannot be
// read, or whose tokenizer has no GGUF name. Does not check tensors against the config (check_engine_weights does).

// type: F32, F16 or BF16. The folder appears complete or not at all. REQUIRES: `folder` does not exist, or is empty.
void write_hub_folder(const std::filesystem::path& from, const std::filesystem::path& folder, std::string_view type,
                      const ConvertProgress& progress);
// Existing files are replaced one by one, each atomically.
// type: F32, F16, BF16, Q8_0 or Q4_0; with Q4_0 the embedding and the head are Q8_0. With Q8_0 and Q4_0 a tower is F16,
// since its rows are seldom a whole number of blocks.
void write_gguf_file(const std::filesystem::path& from, const std::filesystem::path& file, std::string_view type,
                     const ConvertProgress& progress);

}  // namespace agon::agents
