// tests/support/adapter_files.h - writes random LoRA adapters in PEFT's format.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "agents/hub/peft_adapter.h"
#include "core/file.h"
#include "core/json.h"
#include "core/rng.h"
#include "core/text.h"

namespace agon::test {

inline std::vector<float> drawn(std::int64_t count, const std::string& name, std::uint64_t seed) {
  Rng rng = Rng::derive(seed, "adapter", name);
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(0.3 * rng.normal()));
  return values;
}

// Writes an adapter for these modules of a model; both matrices are drawn from normal(0, 0.3).
inline void write_adapter(const std::filesystem::path& folder, const agents::ModelConfig& model,
                          const agents::PeftConfig& peft, const std::vector<std::string>& modules, std::uint64_t seed) {
  make_folders(folder);
  const agents::LinearShapes linears = agents::adaptable_linears(model);
  std::map<std::string, std::vector<float>> values;
  std::map<std::string, agents::TensorView> views;
  const auto add = [&](const std::string& name, std::int64_t rows, std::int64_t columns) {
    const std::vector<float>& matrix = values[name] = drawn(rows * columns, name, seed);
    views[name] = {
        "F32", {rows, columns}, {reinterpret_cast<const std::uint8_t*>(matrix.data()), matrix.size() * sizeof(float)}};
  };
  for (const std::string& module : modules) {
    const agents::LinearShape& shape = linears.at(module);
    add(agents::peft_tensor_name(module, 'A', model.vision.has_value()), peft.rank, shape.inputs);
    add(agents::peft_tensor_name(module, 'B', model.vision.has_value()), shape.outputs, peft.rank);
  }
  agents::write_safetensors(folder / agents::kPeftTensorFile, views);
  agents::write_peft_config(folder, peft, modules);
}

inline void set_adapter_key(const std::filesystem::path& folder, const std::string& key, const Json& value) {
  const std::string path = (folder / agents::kPeftConfigFile).string();
  Json config = Json::parse(read_file(path));
  config[key] = value;
  write_file_atomically(path, config.dump());
}

}  // namespace agon::test
