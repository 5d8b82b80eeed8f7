// agents/hub/gguf/vision.h - converts the vision tower of a GGUF model, which llama.cpp stores in a separate mmproj
// file, to keys of config.json and preprocessor_config.json and to tensors under the hub's names, and back.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agents/hub/checkpoint_tensors.h"
#include "agents/hub/gguf/file.h"
#include "agents/hub/gguf/writer.h"
#include "agents/hub/model_config.h"
#include "agents/hub/pictures/image_processor.h"
#include "core/json.h"

namespace agon::agents {

bool is_mmproj(const std::filesystem::path& file);                   // by its name
std::filesystem::path mmproj_of(const std::filesystem::path& gguf);  // mmproj-NAME.gguf, next to NAME.gguf
// That file, or else the only one next to `gguf` whose name contains "mmproj"; nullopt if there is none. Throws Error
// for several.
std::optional<std::filesystem::path> find_mmproj(const std::filesystem::path& gguf);

struct GgufVision {
  std::shared_ptr<const GgufFile> file;
  std::string source;  // name of the file, for messages
};
// Opens the mmproj file next to `gguf`. Throws Error like find_mmproj and GgufFile::open.
std::optional<GgufVision> open_gguf_vision(const std::filesystem::path& gguf);

// Each throws Error naming what is missing or not supported; `source` names the file.

std::string gguf_vision_model_type(const GgufFile& tower, const std::string& source);  // for config.json
Json gguf_vision_config(const GgufFile& tower, const std::string& source);             // "vision_config"
Json gguf_image_processor(const GgufFile& tower, const std::string& source);

// Tensors in the hub's layout. llama.cpp splits two of them: the patch embedding by frames, and (except in Qwen3-VL)
// qkv into queries, keys and values. These are joined in memory of their own.
struct GgufVisionTensors {
  std::map<std::string, TensorView> by_name;
  std::vector<std::shared_ptr<const void>> owned;  // memory that some views point to
};
GgufVisionTensors gguf_vision_tensors(const GgufFile& tower, const std::string& source);

// From the hub to GGUF. REQUIRES: config.vision.

std::vector<GgufKey> gguf_vision_keys(const ModelConfig& config, const ImageProcessorConfig& images);
// The GGUF tensors that hold one tensor of the hub. They refer to `tensor`, which must outlive them. Matrices have
// `type`; the position embeddings and all other tensors have F32.
// Throws Error for a name that no tensor of the tower has.
std::vector<GgufTensor> gguf_vision_parts(const std::string& hub_name, const CheckpointTensor& tensor,
                                          const VisionConfig& vision, std::string_view type);

}  // namespace agon::agents
