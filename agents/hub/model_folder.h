// agents/hub/model_folder.h - a model folder in the hub's form: config.json, preprocessor_config.json, tokenizer.json,
// tokenizer_config.json, chat template, generation_config.json, safetensors. A folder that transformers loads, agon
// loads, and the other way round.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "agents/hub/chat_template.h"
#include "agents/engine/engine_weights.h"
#include "agents/hub/image_processor.h"
#include "agents/hub/model_config.h"
#include "agents/hub/tokenizer.h"

namespace agon::agents {

class Qwen25VL;

// Everything but the weights.
struct ModelFolder {
  std::filesystem::path path;
  ModelConfig config;
  ImageProcessorConfig images;
  std::shared_ptr<const Tokenizer> tokenizer;
  ChatTemplate chat;
};

ModelFolder open_model_folder(
    const std::filesystem::path& folder);  // throws Error naming the file that is missing or wrong

// Weights by their hub names (both `visual.` / `model.` and `model.visual.` / `model.language_model.` are understood),
// strictly: one Error lists every missing, unexpected and wrongly shaped tensor. F32, F16, BF16 files become fp32 in
// the model.
void load_weights(Qwen25VL& model, const std::filesystem::path& folder);
// The model's weights, as they are now, in the form that the engine's kernels read.
EngineWeights engine_weights_of(const Qwen25VL& model);
enum class WeightType { f32, bf16 };
// One safetensors file of the model's weights by their hub names, atomically.
void save_weights(const Qwen25VL& model, const std::filesystem::path& path, WeightType type);
// Writes the whole folder (all files above), atomically file by file, weights last.
void save_model_folder(const std::filesystem::path& folder, const ModelFolder& parts, const Qwen25VL& model,
                       WeightType type);

}  // namespace agon::agents
