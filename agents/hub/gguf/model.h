// agents/hub/gguf/model.h - converts the keys and tensor names of a GGUF file to a model folder's config, chat template
// and hub names, and back. All other code is independent of the file format of a model.
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

// `path` if it is a file whose name ends in .gguf; for a folder without config.json, the only such file in it except
// mmproj files. Throws Error for several.
std::optional<std::filesystem::path> find_gguf(const std::filesystem::path& path);

// Each throws Error naming the key that is missing or wrong; `source` names the file.

ModelConfig gguf_config(const GgufFile& file, const GgufVision* vision, const std::string& source);  // null: no tower
std::string gguf_chat_template(const GgufFile& file, const std::string& source);

// The hub's name of a tensor: "blk.0.attn_q.weight" -> "model.layers.0.self_attn.q_proj.weight". Empty for a tensor
// that is read with the keys (rope_freqs.weight).
std::string hub_name_of_gguf(const std::string& name);
// For each row of the hub's tensor, the row in the file; empty: the same order. llama.cpp stores the rows of Llama's
// queries and keys in another order: the hub's row (head, half, i) is the file's row (head, i, half).
std::vector<std::int64_t> gguf_row_order(const ModelConfig& config, const std::string& hub_name);

// From the hub to GGUF. Each throws Error if GGUF has no name for it.

std::string gguf_name_of_hub(const std::string& hub_name);
// For each row of the file, the row of the hub's tensor; empty: the same order.
std::vector<std::int64_t> gguf_file_order(const ModelConfig& config, const std::string& hub_name);
// The keys of config, tokenizer and template. They cover the text model; agents/hub/gguf/vision.h has the tower's.
std::vector<GgufKey> gguf_keys(const ModelFolder& parts, const std::string& name);
// The values of rope_freqs.weight, by which Llama 3's frequencies are divided. Empty without rope_scaling. Throws Error
// for a scaling that gguf_config could not recover.
std::vector<float> gguf_rope_divisors(const ModelConfig& config);

}  // namespace agon::agents
