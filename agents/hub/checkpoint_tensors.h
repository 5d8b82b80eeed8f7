// agents/hub/checkpoint_tensors.h - the tensors of a checkpoint by their hub names, whichever files they lie in:
// safetensors, single or sharded, or GGUF.
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
  bool is_mapped = false;  // from a file
};

// Null: agon reads no weights of its type.
const TensorType* type_of(const CheckpointTensor& tensor);
// The bytes of one row of the hub's tensor; of one without rows, all. REQUIRES: it holds weights.
std::span<const std::uint8_t> row_bytes(const CheckpointTensor& tensor, std::int64_t row);
// As the hub has them, in fp32. REQUIRES: it holds weights.
std::vector<float> values_of(const CheckpointTensor& tensor);

// Owns what its views point into.
struct CheckpointTensors {
  std::map<std::string, CheckpointTensor> by_name;
  std::vector<std::shared_ptr<const void>> files;
};

// `path` as for open_model_folder, `config` of the same model. Throws Error for files that are missing or wrong, and
// for a name that occurs twice.
CheckpointTensors open_checkpoint_tensors(const std::filesystem::path& path, const ModelConfig& config);
// The name under which transformers looks for the tensor in a folder of such a model.
std::string saved_name(const std::string& hub_name, const ModelConfig& config);

}  // namespace agon::agents
