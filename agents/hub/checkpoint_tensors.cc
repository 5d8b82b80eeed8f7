#include "agents/hub/checkpoint_tensors.h"

#include <utility>

#include "agents/hub/gguf_model.h"
#include "agents/hub/tensor_type.h"
#include "core/error.h"

namespace agon::agents {
namespace {

namespace fs = std::filesystem;

void add(CheckpointTensors& tensors, const fs::path& path, const std::string& name, CheckpointTensor tensor) {
  if (!tensors.by_name.emplace(name, std::move(tensor)).second)
    throw Error("{}: the tensor {} is there twice. Keep one set of weight files.", path.string(), name);
}

CheckpointTensors open_gguf(const fs::path& path, const ModelConfig& config) {
  const auto file = GgufFile::open(path);
  CheckpointTensors tensors;
  tensors.files.push_back(file);
  for (const auto& [name, view] : file->tensors())
    if (const std::string hub = hub_name_of_gguf(name); !hub.empty())
      add(tensors, path, hub, {view, gguf_row_order(config, hub)});
  return tensors;
}

std::vector<float> in_order(const std::vector<float>& rows, const std::vector<std::int64_t>& order) {
  const std::int64_t width = std::ssize(rows) / std::ssize(order);
  std::vector<float> ordered;
  ordered.reserve(rows.size());
  for (const std::int64_t row : order)
    ordered.insert(ordered.end(), rows.begin() + row * width, rows.begin() + (row + 1) * width);
  return ordered;
}

}  // namespace

bool holds_weights(const CheckpointTensor& tensor) { return find_tensor_type(tensor.view.dtype) != nullptr; }

std::vector<float> values_of(const CheckpointTensor& tensor) {
  const TensorType& type = *find_tensor_type(tensor.view.dtype);
  std::vector<float> values(tensor.view.bytes.size() / static_cast<std::size_t>(type.bytes) *
                            static_cast<std::size_t>(type.block));
  read_values(type, tensor.view.bytes, values);
  return tensor.row_order.empty() ? values : in_order(values, tensor.row_order);
}

CheckpointTensors open_checkpoint_tensors(const fs::path& path, const ModelConfig& config) {
  if (const auto gguf = find_gguf(path)) return open_gguf(*gguf, config);
  CheckpointTensors tensors;
  for (const auto& file : open_checkpoint_weights(path)) {
    tensors.files.push_back(file);
    for (const auto& [name, view] : file->tensors()) add(tensors, path, hub_name(name), {view});
  }
  return tensors;
}

}  // namespace agon::agents
