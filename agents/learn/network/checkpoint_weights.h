// agents/learn/network/checkpoint_weights.h - loads and saves the weights of a checkpoint, and converts them for the
// engine. agents/hub/model_folder.h handles the checkpoint's other files.
#pragma once

#include <filesystem>

#include "agents/engine/weights.h"
#include "agents/hub/model_folder.h"

namespace agon::agents {

class TransformerNetwork;

// Loads weights by their hub names (both `visual.` / `model.` and `model.visual.` / `model.language_model.`), strictly:
// one Error lists every missing, unexpected and wrongly shaped tensor. F32, F16, BF16 files become fp32 in the model.
void load_weights(TransformerNetwork& model, const std::filesystem::path& folder);
// The model's current weights, in the form that the engine's kernels read.
EngineWeights engine_weights_of(const TransformerNetwork& model);
enum class WeightType { f32, bf16 };
// Writes the model's weights to one safetensors file by their hub names, atomically.
void save_weights(const TransformerNetwork& model, const std::filesystem::path& path, WeightType type);
// Writes the whole model folder: each file atomically, the weights last.
void save_model_folder(const std::filesystem::path& folder, const ModelFolder& parts, const TransformerNetwork& model,
                       WeightType type);

}  // namespace agon::agents
