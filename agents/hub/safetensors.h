// agents/hub/safetensors.h - reads (memory-mapped) and writes safetensors files, single or sharded.
// This header needs no torch.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace agon::agents {

struct TensorView {
  std::string dtype;  // "F32", "BF16", ... as in the file
  std::vector<std::int64_t> shape;
  std::span<const std::uint8_t> bytes;  // row-major, little-endian, inside the mapping
};

// Owns the mapping; views live as long as it does. Opening checks everything first: header length and JSON, known
// dtypes, sizes that match shapes, offsets inside the file, no holes, no overlap, no duplicate names. Throws Error with
// file, tensor and values.
class SafetensorsFile {
 public:
  static std::shared_ptr<const SafetensorsFile> open(const std::filesystem::path& path);
  virtual ~SafetensorsFile() = default;
  virtual const std::map<std::string, TensorView>& tensors() const = 0;
  virtual const std::map<std::string, std::string>& metadata() const = 0;
};

// The name of a tensor or module in the hub's Qwen2.5-VL files: `visual.` and `model.` in place of `model.visual.` and
// `model.language_model.` of newer releases and models.
std::string hub_name(const std::string& name);
std::string nested_name(const std::string& hub_name);  // the other way round

// All files of a checkpoint folder: model.safetensors, or the shards of model.safetensors.index.json.
std::vector<std::shared_ptr<const SafetensorsFile>> open_checkpoint_weights(const std::filesystem::path& folder);
// Writes the tensors through core/file.h, in the reference writer's order: larger alignment first, then by name.
void write_safetensors(const std::filesystem::path& path, const std::map<std::string, TensorView>& tensors,
                       const std::map<std::string, std::string>& metadata = {});

// A tensor whose bytes are created only when it is written.
struct TensorMaker {
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::function<std::vector<std::uint8_t>()> make;
};
// Like write_safetensors above, with only one tensor in memory at a time.
void write_safetensors(const std::filesystem::path& path, const std::map<std::string, TensorMaker>& tensors,
                       const std::map<std::string, std::string>& metadata);

}  // namespace agon::agents
