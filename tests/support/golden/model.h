// tests/support/golden/model.h - a model of tests/golden/qwen2_5_vl or qwen_vl with its inputs and expected results.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <filesystem>
#include <string>
#include <vector>

#include "agents/hub/safetensors.h"
#include "agents/learn/network/checkpoint_weights.h"
#include "agents/learn/network/transformer_network.h"
#include "core/text.h"
#include "paths.h"

namespace agon::test {

class GoldenModel {
 public:
  // set: a folder of tests/golden; results: the folder of golden.safetensors, if it is another one.
  explicit GoldenModel(const std::string& name, const std::string& set = "qwen2_5_vl", const std::string& results = "")
      : folder(golden_path(set) / name),
        model(std::make_shared<agents::TransformerNetwork>(
            agents::parse_model_config(Json::parse(read_file((folder / "config.json").string())), "config.json"))),
        file_(
            agents::SafetensorsFile::open(golden_path(results.empty() ? set : results) / name / "golden.safetensors")) {
    agents::load_weights(*model, folder);
  }

  // A golden tensor; undefined if there is none of that name.
  at::Tensor find(const std::string& name) const {
    const auto found = file_->tensors().find(name);
    if (found == file_->tensors().end()) return {};
    const agents::TensorView& view = found->second;
    at::Tensor tensor = at::empty(view.shape, view.dtype == "I64" ? at::kLong : at::kFloat);
    std::copy(view.bytes.begin(), view.bytes.end(), static_cast<std::uint8_t*>(tensor.data_ptr()));
    return tensor;
  }
  at::Tensor operator[](const std::string& name) const { return find(name); }

  std::vector<agents::ImageGrid> grids() const {
    std::vector<agents::ImageGrid> result;
    const at::Tensor rows = find("grids");
    for (std::int64_t i = 0; i < rows.size(0); ++i)
      result.push_back({rows[i][0].item<int>(), rows[i][1].item<int>(), rows[i][2].item<int>()});
    return result;
  }
  std::vector<std::int64_t> lengths() const {
    const at::Tensor values = find("lengths");
    return {values.data_ptr<std::int64_t>(), values.data_ptr<std::int64_t>() + values.numel()};
  }
  // The model's logits of the whole golden batch, [B, S, V].
  at::Tensor logits() {
    const at::Tensor images = model->encode_images(find("patches"), grids());
    return model->logits(model->hidden_states(find("ids"), find("positions"), images, lengths()));
  }

  std::filesystem::path folder;
  std::shared_ptr<agents::TransformerNetwork> model;

 private:
  std::shared_ptr<const agents::SafetensorsFile> file_;
};

}  // namespace agon::test
