// benchmarks/perf/bench_models.h - the model architectures that the benchmarks time.
#pragma once

#include "agents/hub/model_config.h"

namespace agon::agents {

// 81 million parameters.
inline ModelConfig large_model() {
  ModelConfig config;
  config.vision =
      VisionConfig{.depth = 4, .hidden_size = 256, .intermediate_size = 512, .num_heads = 4, .out_hidden_size = 640};
  config.vision->fullatt_block_indexes = {1, 3};
  config.text = {.vocab_size = 8192,
                 .hidden_size = 640,
                 .intermediate_size = 2560,
                 .num_hidden_layers = 12,
                 .num_attention_heads = 10,
                 .num_key_value_heads = 2,
                 .max_position_embeddings = 4096,
                 .mrope_section = {8, 12, 12}};
  config.image_token_id = 8191;
  return config;
}

// models/agon-tiny.
inline ModelConfig tiny_model() {
  ModelConfig config;
  config.vision =
      VisionConfig{.depth = 4, .hidden_size = 128, .intermediate_size = 256, .num_heads = 4, .out_hidden_size = 128};
  config.text = {.vocab_size = 185,
                 .hidden_size = 128,
                 .intermediate_size = 384,
                 .num_hidden_layers = 4,
                 .num_attention_heads = 4,
                 .num_key_value_heads = 2,
                 .max_position_embeddings = 512,
                 .rope_theta = 10,
                 .mrope_section = {4, 6, 6}};
  config.image_token_id = 180;
  return config;
}

}  // namespace agon::agents
