// agents/hub/gguf/model.h - a GGUF file as the parts of a model folder: its keys as config.json and chat template, its
// tensors under the hub's names. From there on nothing knows which kind of file a model came from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "agents/hub/gguf/file.h"
#include "agents/hub/gguf/vision.h"
#include "agents/hub/gguf/writer.h"
#include "agents/hub/model_config.h"

namespace agon::agents {

struct ModelFolder;

// `path` if it is a file whose name ends in .gguf, or the only such file of a folder without config.json, beside its
// mmproj file.
std::optional<std::filesystem::path> find_gguf(const std::filesystem::path& path);

// Each throws Error naming the key that is missing or wrong; `source` names the file.

ModelConfig gguf_config(const GgufFile& file, const GgufVision* vision, const std::string& source);  // null: no tower
std::string gguf_chat_template(const GgufFile& file, const std::string& source);

// The hub's name of a tensor, "model.layers.0.self_attn.q_proj.weight" of "blk.0.attn_q.weight"; empty: a tensor that
// is read with the keys (rope_freqs.weight).
std::string hub_name_of_gguf(const std::string& name);
// llama.cpp keeps the rows of Llama's queries and keys in another order: row (head, half, i) of the hub is row
// (head, i, half) there. -> for each row of the hub, that of the file; empty: the same.
std::vector<std::int64_t> gguf_row_order(const ModelConfig& config, const std::string& hub_name);

// The other way round. Throw Error for what GGUF has no name for.

std::string gguf_name_of_hub(const std::string& hub_name);
// For each row of the file, that of the hub; empty: the same.
std::vector<std::int64_t> gguf_file_order(const ModelConfig& config, const std::string& hub_name);
// Config, tokenizer and template; of a model that sees, those of its text (agents/hub/gguf/vision.h has the tower's).
std::vector<GgufKey> gguf_keys(const ModelFolder& parts, const std::string& name);
// The values of rope_freqs.weight: what Llama 3's frequencies are divided by. None for other positions. Throws Error
// for a scaling that gguf_config would not find again.
std::vector<float> gguf_rope_divisors(const ModelConfig& config);

}  // namespace agon::agents
