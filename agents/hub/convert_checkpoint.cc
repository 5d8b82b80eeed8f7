#include "agents/hub/convert_checkpoint.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "agents/hub/checkpoint_tensors.h"
#include "agents/hub/gguf/model.h"
#include "agents/hub/gguf/vision.h"
#include "agents/hub/gguf/writer.h"
#include "agents/hub/mapped_file.h"
#include "agents/hub/model_folder.h"
#include "core/error.h"
#include "core/file.h"
#include "kernels/half.h"
#include "kernels/linear/bfloat/linear.h"

namespace agon::agents {
namespace {

namespace fs = std::filesystem;

// The values of a tensor to be written in `type`. Throws Error for a value that is not finite in that type.
std::vector<float> numbers_of(const std::string& name, const CheckpointTensor& tensor, std::string_view type) {
  constexpr float kMostHalf = 65504;
  std::vector<float> values = values_of(tensor);
  for (const float value : values)
    if (!std::isfinite(value))
      throw Error("convert: {} has the value {}, which is not a number. Is the checkpoint damaged?", name, value);
    else if (type == "F16" && std::abs(value) > kMostHalf)
      throw Error("convert: {} has the value {}, and F16 ends at {}. Choose BF16.", name, value, kMostHalf);
  return values;
}

// Values as the bytes of F32, F16 or BF16.
std::vector<std::uint8_t> bytes_in(const std::vector<float>& values, std::string_view type) {
  std::vector<std::uint8_t> bytes(values.size() * (type == "F32" ? 4 : 2));
  if (type == "F32") {
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  }
  std::vector<std::uint16_t> halves(values.size());
  if (type == "BF16")
    kernels::round_to_bfloat(values.data(), std::ssize(values), halves.data());
  else
    std::transform(values.begin(), values.end(), halves.begin(), kernels::float_to_half);
  std::memcpy(bytes.data(), halves.data(), bytes.size());
  return bytes;
}

// Releases the file's pages of a tensor once it is converted.
TensorMaker hub_tensor(const std::string& name, const CheckpointTensor& tensor, std::string_view type,
                       const std::function<void()>& made) {
  return {std::string(type), tensor.view.shape, [&tensor, &made, name, type] {
            std::vector<std::uint8_t> bytes = bytes_in(numbers_of(name, tensor, type), type);
            if (tensor.is_mapped) release_pages(tensor.view.bytes);
            made();
            return bytes;
          }};
}

const char* dtype_name(std::string_view type) {
  return type == "F32" ? "float32" : type == "F16" ? "float16" : "bfloat16";
}

// Reorders the rows of a matrix, or of a bias with one value per row.
std::vector<float> in_order(const std::vector<float>& values, const std::vector<std::int64_t>& order) {
  const std::size_t width = values.size() / order.size();
  std::vector<float> result;
  result.reserve(values.size());
  for (const std::int64_t row : order) {
    const auto begin = values.begin() + row * static_cast<std::int64_t>(width);
    result.insert(result.end(), begin, begin + static_cast<std::ptrdiff_t>(width));
  }
  return result;
}

GgufTensor gguf_tensor(const std::string& hub_name, const CheckpointTensor& tensor, const ModelConfig& config,
                       std::string_view type) {
  const bool is_matrix = tensor.view.shape.size() == 2;
  const bool is_word = hub_name == "lm_head.weight" || hub_name == "model.embed_tokens.weight";
  const std::string_view own = !is_matrix ? "F32" : is_word && type == "Q4_0" ? "Q8_0" : type;
  return {gguf_name_of_hub(hub_name), tensor.view.shape, own,
          [&tensor, own, hub_name,
           order = gguf_file_order(config, hub_name)](const std::function<void(const float*)>& put) {
            const std::vector<float> values = numbers_of(hub_name, tensor, own);
            const std::vector<float> rows = order.empty() ? values : in_order(values, order);
            const std::int64_t width = tensor.view.shape.back();
            for (std::int64_t i = 0; i < std::ssize(rows); i += width) put(rows.data() + i);
          }};
}

// Makes each tensor report progress when it is written.
void report(std::vector<GgufTensor>& tensors, std::size_t before, std::size_t all, const ConvertProgress& progress) {
  for (GgufTensor& tensor : tensors)
    tensor.each_row = [each_row = tensor.each_row, &progress, done = ++before, all](const auto& put) {
      each_row(put);
      progress(done, all);
    };
}

CheckpointTensors open_weights(const fs::path& from, const ModelConfig& config) {
  CheckpointTensors tensors = open_checkpoint_tensors(from, config);
  for (const auto& [name, tensor] : tensors.by_name)
    if (!type_of(tensor))
      throw Error("{}: {} has the type {}, which holds no weights.", from.string(), name, tensor.view.dtype);
  return tensors;
}

// Calls write(half) for a temporary folder next to `folder`, which is then renamed to it.
void write_whole(const fs::path& folder, const std::function<void(const fs::path&)>& write) {
  const fs::path named = folder.has_filename() ? folder : folder.parent_path();
  const fs::path half = named.string() + ".half";
  fs::remove_all(half);  // left by a process that was killed
  try {
    make_folders(half);
    write(half);
    rename_durably(half, named);
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(half, ignored);
    throw;
  }
}

}  // namespace

void write_hub_folder(const fs::path& from, const fs::path& folder, std::string_view type,
                      const ConvertProgress& progress) {
  const ModelFolder parts = open_model_folder(from);
  const CheckpointTensors tensors = open_weights(from, parts.config);
  std::size_t done = 0;
  const std::function<void()> report_one = [&] { progress(++done, tensors.by_name.size()); };
  std::map<std::string, TensorMaker> made;
  for (const auto& [name, tensor] : tensors.by_name)
    made[saved_name(name, parts.config)] = hub_tensor(name, tensor, type, report_one);
  write_whole(folder, [&](const fs::path& half) {
    try {
      save_model_files(half, parts, dtype_name(type));
    } catch (const Json::exception& error) {  // JSON texts must be UTF-8
      throw Error("{}: a text in it cannot be written as JSON: {}. Is the file damaged?", from.string(), error.what());
    }
    write_safetensors(half / "model.safetensors", made, {{"format", "pt"}});
  });
}

void write_gguf_file(const fs::path& from, const fs::path& file, std::string_view type,
                     const ConvertProgress& progress) {
  const ModelFolder parts = open_model_folder(from);
  const CheckpointTensors tensors = open_weights(from, parts.config);
  std::vector<GgufTensor> text, tower;
  std::vector<GgufKey> tower_keys;
  if (parts.config.vision) tower_keys = gguf_vision_keys(parts.config, parts.images);
  for (const auto& [name, tensor] : tensors.by_name) {
    if (name == "lm_head.weight" && parts.config.text.tie_word_embeddings) continue;
    if (parts.config.vision && name.starts_with("visual.")) {
      const std::string_view own = type.starts_with('Q') ? "F16" : type;
      numbers_of(name, tensor, own);  // throws for a bad value: the parts are not checked when written
      for (GgufTensor& part : gguf_vision_parts(name, tensor, *parts.config.vision, own))
        tower.push_back(std::move(part));
    } else {
      text.push_back(gguf_tensor(name, tensor, parts.config, type));
    }
  }
  if (const std::vector<float> divisors = gguf_rope_divisors(parts.config); !divisors.empty())
    text.push_back(
        {"rope_freqs.weight", {std::ssize(divisors)}, "F32", [divisors](const std::function<void(const float*)>& put) {
           put(divisors.data());
         }});
  report(tower, 0, text.size() + tower.size(), progress);
  report(text, tower.size(), text.size() + tower.size(), progress);
  // The tower first, so that a model file is never there without its tower.
  if (parts.config.vision) write_gguf(mmproj_of(file), tower_keys, tower);
  write_gguf(file, gguf_keys(parts, from.filename().string()), text);
}

}  // namespace agon::agents
