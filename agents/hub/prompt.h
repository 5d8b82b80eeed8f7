// agents/hub/prompt.h - encodes messages for the model: ids with the tokens of pictures and videos laid out, M-RoPE
// positions, patches.
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
  // Each image is vision_start, image_token x n, vision_end; a video likewise, or (VideoTime::timestamps) between those
  // two its parts, each as its timestamp, vision_start, video_token x n, vision_end.
  std::vector<std::int32_t> ids;
  std::vector<std::shared_ptr<const PatchedImage>> images;  // and parts of videos, in order of appearance
};

// Positions (t, h, w) of every id, as transformers' get_rope_index: text counts on all axes; an image, or a part of a
// video, runs over its merged grid, and the text after it starts past its rows and columns, whatever the times of its
// frames. The position of the first token after the ids, equal on all axes, goes to *next. Throws Error if the image
// and video tokens do not match the grids in number.
std::vector<std::array<std::int32_t, 3>> mrope_positions(std::span<const std::int32_t> ids,
                                                         std::span<const ImageGrid> grids, const ModelConfig& config,
                                                         std::int32_t* next);

// Renders the messages with the template, up to the open assistant turn and its `prefix` (inputs.opens_turn false:
// without). Special tokens come from the template alone; tag tokens such as "<answer>" are tokens wherever they stand.
// A policy's turn is kept as it was sampled: if it ends with one of the model's end tokens, that token closes it, not
// the template's. Throws Error for a picture or video that cannot be processed and for a tokenizer without the
// template's tokens. Whether the prompt fits the context is the caller's business. `known`, if given, keeps the
// pictures that are cut; REQUIRES: made for `images`.
EncodedPrompt encode_prompt(const std::vector<Message>& messages, std::string_view prefix, const ChatTemplate& chat,
                            const Tokenizer& tokenizer, const ImageProcessorConfig& images, const ModelConfig& model,
                            PatchedPictures* known = nullptr, const ChatInputs& inputs = {});

}  // namespace agon::agents
