// agents/hub/gguf/vision.h - the vision tower of a GGUF model, which llama.cpp keeps in a file of its own, mmproj: as
// the keys of config.json and of preprocessor_config.json, and as tensors under the hub's names.
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
// That file, or the only one next to `gguf` whose name says "mmproj"; nothing: none. Throws Error for several.
std::optional<std::filesystem::path> find_mmproj(const std::filesystem::path& gguf);

struct GgufVision {
  std::shared_ptr<const GgufFile> file;
  std::string source;  // its name, for messages
};
// Opens the mmproj file next to `gguf`. Throws Error as it and GgufFile::open do.
std::optional<GgufVision> open_gguf_vision(const std::filesystem::path& gguf);

// Each throws Error naming what is missing or not supported; `source` names the file.

std::string gguf_vision_model_type(const GgufFile& tower, const std::string& source);  // of config.json
Json gguf_vision_config(const GgufFile& tower, const std::string& source);             // "vision_config"
Json gguf_image_processor(const GgufFile& tower, const std::string& source);

// Tensors of the hub's layout. llama.cpp splits two of them, patches by frames and (not of Qwen3-VL) attention by
// queries, keys and values: those are put together in memory of their own.
struct GgufVisionTensors {
  std::map<std::string, TensorView> by_name;
  std::vector<std::shared_ptr<const void>> owned;  // what some views point into
};
GgufVisionTensors gguf_vision_tensors(const GgufFile& tower, const std::string& source);

// The other way round. REQUIRES: config.vision.

std::vector<GgufKey> gguf_vision_keys(const ModelConfig& config, const ImageProcessorConfig& images);
// The tensors of the file that hold the hub's tensor: its matrices in `type`, everything else in F32. They refer to it.
// Throws Error for a name that no tensor of the tower has.
std::vector<GgufTensor> gguf_vision_parts(const std::string& hub_name, const CheckpointTensor& tensor,
                                          const VisionConfig& vision, std::string_view type);

}  // namespace agon::agents
