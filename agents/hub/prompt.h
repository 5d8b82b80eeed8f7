// agents/hub/prompt.h - encodes messages as the model's input: token ids, including those of pictures and videos,
// M-RoPE positions, and the pictures' patches.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "agents/hub/chat_template.h"
#include "agents/hub/model_config.h"
#include "agents/hub/pictures/image_processor.h"
#include "agents/hub/pictures/patched_pictures.h"
#include "agents/hub/tokenizer/tokenizer.h"

namespace agon::agents {

struct EncodedPrompt {
  // An image is vision_start, image_token x n, vision_end. A video is vision_start, video_token x n, vision_end. With
  // VideoTime::timestamps, the video tokens are replaced by one run per part: timestamp, vision_start, video_token x n,
  // vision_end.
  std::vector<std::int32_t> ids;
  std::vector<std::shared_ptr<const PatchedImage>> images;  // images and parts of videos, in order
};

// Positions (t, h, w) of every id, as in transformers' get_rope_index. Text advances all axes. An image, or a part of a
// video, covers its merged grid; the text after it starts max(rows, columns) later, whatever the times of its
// frames. *next is set to the position of the first token after the ids, equal on all axes. Throws Error if the
// numbers of image and video tokens do not match the grids.
std::vector<std::array<std::int32_t, 3>> mrope_positions(std::span<const std::int32_t> ids,
                                                         std::span<const ImageGrid> grids, const ModelConfig& config,
                                                         std::int32_t* next);

// Renders the messages with the template, up to the open assistant turn (unless inputs.opens_turn is false) and its
// `prefix`. Special tokens in messages are plain text; tag tokens such as "<answer>" are tokens everywhere. A policy's
// turn is kept as it was sampled: if it ends with one of the model's end tokens, the template's end token is dropped.
// Throws Error for a picture or video that cannot be processed, and for a tokenizer without the template's tokens. The
// caller checks whether the prompt fits the context. `known`, if given, caches the patches; REQUIRES: it was made for
// `images`.
EncodedPrompt encode_prompt(const std::vector<Message>& messages, std::string_view prefix, const ChatTemplate& chat,
                            const Tokenizer& tokenizer, const ImageProcessorConfig& images, const ModelConfig& model,
                            PatchedPictures* known = nullptr, const ChatInputs& inputs = {});

}  // namespace agon::agents
