// agents/engine/decoder.h - the language model of agon's CPU backend. It processes any mixture of prompt and generated
// tokens as rows of one batch. A row's result depends on its own sequence alone, not on other rows or threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "agents/engine/backend.h"
#include "agents/engine/key_value_cache.h"
#include "agents/engine/transformer_block.h"
#include "agents/engine/weights.h"

namespace agon::agents {

// Rows [begin, end) of a batch that attend to the same first keys, which are read once for all of them: those of a
// shared prompt, or the complete key blocks up to the first row of a sequence.
struct RowGroup {
  std::size_t begin = 0, end = 0;
};

// Rows [begin, end) of a batch that have the same adapter.
struct AdapterGroup {
  std::size_t begin = 0, end = 0;
  const EngineAdapter* adapter = nullptr;
};

struct DecoderScratch {
  kernels::AlignedFloats cosines, sines;
  std::vector<RowGroup> groups;
  std::vector<AdapterGroup> adapters;
  std::vector<AdaptedRows> adapted;  // the adapters of the current layer
  BlockScratch block;
};

class Decoder {
 public:
  Decoder(const EngineWeights& weights, const TextConfig& config, const PagePool& pages);

  // Prepares the rotary tables for positions below `positions`. Call before forward, not concurrently.
  void prepare(std::int32_t positions);
  // hidden [rows, hidden_size]: the states after the last norm. Writes each row's keys and values to its place. Several
  // threads may call it for different sequences. Fastest if rows with the same adapter are adjacent. REQUIRES: the rows
  // of a sequence are in order, and all its earlier rows are in this call or an earlier one.
  void forward(std::span<const DecoderRow> rows, float* hidden, DecoderScratch& scratch,
               const kernels::ParallelFor& parallel) const;
  void logits(const float* hidden, std::int64_t rows, float* out, const kernels::ParallelFor& parallel) const;

 private:
  void attend(int layer, std::span<const DecoderRow> rows, float* qkv, float* attended, const DecoderScratch& scratch,
              const kernels::ParallelFor& parallel) const;
  void attend_group(std::span<const DecoderRow> rows, const float* queries, float* attended, std::int64_t head_offset,
                    kernels::AlignedFloats& scratch) const;
  void embed(const DecoderRow& row, float* state) const;
  void add_deepstack(std::size_t layer, std::span<const DecoderRow> rows, float* hidden) const;
  void normalise_heads(const BlockWeights& layer, std::int64_t rows, float* qkv) const;
  void look_up_angles(std::span<const DecoderRow> rows, DecoderScratch& scratch) const;

  const EngineWeights& weights_;
  const TextConfig config_;
  const PagePool& pages_;
  std::vector<float> frequencies_;      // [head_dim / 2]
  std::vector<int> axis_;               // axis of each frequency: 0 t, 1 h, 2 w
  std::vector<float> cosines_, sines_;  // [known positions, head_dim / 2]
};

}  // namespace agon::agents
