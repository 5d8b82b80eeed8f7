// agents/hub/convert_checkpoint.h - a checkpoint in another form: a hub folder from a GGUF file, and a GGUF file from a
// hub folder. A vision tower is a file of its own there, mmproj-NAME.gguf next to NAME.gguf.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

namespace agon::agents {

// Called with the tensors done and all of them.
using ConvertProgress = std::function<void(std::size_t done, std::size_t all)>;

// `type` is that of the matrices; vectors stay in F32 in a GGUF file. Throws Error for a checkpoint that cannot be
// read, or whose tokenizer GGUF has no name for. Tensors are written as they are, whatever the config asks for
// (check_engine_weights).

// type: F32, F16 or BF16. The folder appears whole or not at all. REQUIRES: it is not there, or empty.
void write_hub_folder(const std::filesystem::path& from, const std::filesystem::path& folder, std::string_view type,
                      const ConvertProgress& progress);
// Existing files are replaced one by one, each atomically.
// type: F32, F16, BF16, Q8_0 or Q4_0; under Q4_0 the embedding and the head have eight bits. A tower is written in F16
// where the type is of codes: its rows are seldom a whole number of blocks.
void write_gguf_file(const std::filesystem::path& from, const std::filesystem::path& file, std::string_view type,
                     const ConvertProgress& progress);

}  // namespace agon::agents
