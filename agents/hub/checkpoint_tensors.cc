#include "agents/hub/checkpoint_tensors.h"

#include <utility>

#include "agents/hub/gguf/model.h"
#include "core/error.h"

namespace agon::agents {
namespace {

namespace fs = std::filesystem;

void add_tensor(CheckpointTensors& tensors, const fs::path& path, const std::string& name, CheckpointTensor tensor) {
  if (!tensors.by_name.emplace(name, std::move(tensor)).second)
    throw Error("{}: the tensor {} is there twice. Keep one set of weight files.", path.string(), name);
}

CheckpointTensors open_gguf(const fs::path& path, const ModelConfig& config) {
  const auto file = GgufFile::open(path);
  CheckpointTensors tensors;
  tensors.files.push_back(file);
  for (const auto& [name, view] : file->tensors())
    if (const std::string hub = hub_name_of_gguf(name); !hub.empty())
      add_tensor(tensors, path, hub, {view, gguf_row_order(config, hub), true});
  if (!config.vision) return tensors;
  const std::optional<GgufVision> vision = open_gguf_vision(path);
  if (!vision) throw Error("{}: the mmproj file next to it was removed.", path.string());
  GgufVisionTensors tower = gguf_vision_tensors(*vision->file, vision->source);
  tensors.files.push_back(vision->file);
  for (auto& owned : tower.owned) tensors.files.push_back(std::move(owned));
  for (const auto& [name, view] : tower.by_name) add_tensor(tensors, vision->source, name, {view});
  return tensors;
}

// Old Llama 2 checkpoints also store the rotary frequencies, which follow from the config.
bool is_rotation(const std::string& name) { return name.ends_with(".rotary_emb.inv_freq"); }

}  // namespace

const TensorType* type_of(const CheckpointTensor& tensor) { return find_tensor_type(tensor.view.dtype); }

std::span<const std::uint8_t> row_bytes(const CheckpointTensor& tensor, std::int64_t row) {
  if (tensor.view.shape.empty()) return tensor.view.bytes;
  const std::size_t size = tensor.view.bytes.size() / static_cast<std::size_t>(tensor.view.shape.front());
  const std::int64_t place = tensor.row_order.empty() ? row : tensor.row_order[static_cast<std::size_t>(row)];
  return tensor.view.bytes.subspan(static_cast<std::size_t>(place) * size, size);
}

std::vector<float> values_of(const CheckpointTensor& tensor) {
  const TensorType& type = *type_of(tensor);
  std::vector<float> values(tensor.view.bytes.size() / static_cast<std::size_t>(type.bytes) *
                            static_cast<std::size_t>(type.block));
  if (tensor.row_order.empty()) {
    read_values(type, tensor.view.bytes, values);
    return values;
  }
  const std::size_t width = values.size() / tensor.row_order.size();
  for (std::size_t row = 0; row < tensor.row_order.size(); ++row)
    read_values(type, row_bytes(tensor, static_cast<std::int64_t>(row)), std::span(values).subspan(row * width, width));
  return values;
}

CheckpointTensors open_checkpoint_tensors(const fs::path& path, const ModelConfig& config) {
  if (const auto gguf = find_gguf(path)) return open_gguf(*gguf, config);
  CheckpointTensors tensors;
  for (const auto& file : open_checkpoint_weights(path)) {
    tensors.files.push_back(file);
    for (const auto& [name, view] : file->tensors())
      if (!is_rotation(name)) add_tensor(tensors, path, hub_name(name), {view, {}, true});
  }
  return tensors;
}

std::string saved_name(const std::string& hub_name, const ModelConfig& config) {
  return find_architecture(config.model_type)->nests_names ? nested_name(hub_name) : hub_name;
}

}  // namespace agon::agents
