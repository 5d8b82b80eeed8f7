// agents/hub/model_folder.h - opens and saves model folders in the hub's format: config.json, preprocessor_config.json,
// video_preprocessor_config.json, tokenizer.json, tokenizer_config.json, chat template, generation_config.json,
// safetensors. agon loads the folders that transformers loads, and vice versa.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "agents/hub/chat_template.h"
#include "agents/hub/model_config.h"
#include "agents/hub/pictures/image_processor.h"
#include "agents/hub/tokenizer/tokenizer.h"

namespace agon::agents {

// All parts of a model folder except the weights.
struct ModelFolder {
  std::filesystem::path path;
  ModelConfig config;
  ImageProcessorConfig images;  // of pictures and videos, if the model reads them
  std::shared_ptr<const Tokenizer> tokenizer;
  ChatTemplate chat;
};

// The parts that turn messages into tokens and back.
struct TextFolder {
  std::shared_ptr<const Tokenizer> tokenizer;
  ChatTemplate chat;
  std::string bos;  // the token that begins every text; empty: none
};
// Needs only tokenizer.json and the chat template. Throws Error like open_model_folder.
TextFolder open_text_folder(const std::filesystem::path& folder);

// `folder` may also be a GGUF file, or a folder with a single GGUF model. `resampler`: for pictures, instead of the one
// that the folder names. Throws Error naming the file that is missing or wrong.
ModelFolder open_model_folder(const std::filesystem::path& folder, std::optional<Resampler> resampler = std::nullopt);

// Opens only the config, which is fast. Throws Error likewise.
ModelConfig open_model_config(const std::filesystem::path& folder);

// Writes all files of the folder except the weights, each atomically. dtype: the type of the weights, as config.json
// names it ("float32"). Throws Error if the parts belong to different models, or a file cannot be written.
void save_model_files(const std::filesystem::path& folder, const ModelFolder& parts, const std::string& dtype);

}  // namespace agon::agents
