// agents/hub/checkpoint_tensors.h - gives access to the tensors of a checkpoint by their hub names, whether it is a
// safetensors file, several shards, or GGUF.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "agents/hub/model_config.h"
#include "agents/hub/safetensors.h"
#include "agents/hub/tensor_type.h"

namespace agon::agents {

struct CheckpointTensor {
  TensorView view;
  // Row i of the hub's tensor is row row_order[i] of the view; empty: the same.
  std::vector<std::int64_t> row_order = {};
  bool is_mapped = false;  // the view points into a mapped file
};

// Null: not a type of weights that agon reads.
const TensorType* type_of(const CheckpointTensor& tensor);
// The bytes of one row of the hub's tensor; of a scalar, all bytes. REQUIRES: type_of is not null.
std::span<const std::uint8_t> row_bytes(const CheckpointTensor& tensor, std::int64_t row);
// All values in fp32, in the hub's order. REQUIRES: type_of is not null.
std::vector<float> values_of(const CheckpointTensor& tensor);

// All tensors of a checkpoint. Owns the memory that the views point to.
struct CheckpointTensors {
  std::map<std::string, CheckpointTensor> by_name;
  std::vector<std::shared_ptr<const void>> files;
};

// `path` as for open_model_folder, `config` of the same model. Throws Error for files that are missing or invalid,
// and for a name that occurs twice.
CheckpointTensors open_checkpoint_tensors(const std::filesystem::path& path, const ModelConfig& config);
// The name under which transformers looks for the tensor in a folder of such a model.
std::string saved_name(const std::string& hub_name, const ModelConfig& config);

}  // namespace agon::agents
