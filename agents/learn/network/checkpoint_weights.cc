#include "agents/learn/network/checkpoint_weights.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "agents/hub/checkpoint_tensors.h"
#include "agents/learn/network/tensor_views.h"
#include "agents/learn/network/transformer_network.h"
#include "core/error.h"

namespace agon::agents {
namespace {

namespace fs = std::filesystem;
using at::Tensor;

std::string shape_text(at::IntArrayRef shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

// The mismatches of a file's tensors (by hub name) with the parameters of the model, one line each.
std::vector<std::string> mismatches(const std::map<std::string, CheckpointTensor>& tensors,
                                    const std::map<std::string, Tensor>& parameters) {
  std::vector<std::string> lines;
  for (const auto& [name, parameter] : parameters) {
    const auto found = tensors.find(name);
    if (found == tensors.end())
      lines.push_back(fmt::format("missing {} {}", name, shape_text(parameter.sizes())));
    else if (parameter.sizes() != at::IntArrayRef(found->second.view.shape))
      lines.push_back(fmt::format("{} is {}, the config asks for {}", name, shape_text(found->second.view.shape),
                                  shape_text(parameter.sizes())));
    else if (!type_of(found->second))
      lines.push_back(fmt::format("{} is of type {}, which holds no weights", name, found->second.view.dtype));
  }
  for (const auto& [name, tensor] : tensors)
    if (!parameters.count(name)) lines.push_back(fmt::format("unexpected {} {}", name, shape_text(tensor.view.shape)));
  return lines;
}

std::map<std::string, Tensor> parameters_of(const TransformerNetwork& model) {
  return {model.named_parameters().begin(), model.named_parameters().end()};
}

// Some files repeat a tied embedding as lm_head: it is dropped if equal, and kept (so that it is refused) if not.
void drop_tied_head(std::map<std::string, CheckpointTensor>& tensors) {
  const auto head = tensors.find("lm_head.weight"), embedding = tensors.find("model.embed_tokens.weight");
  if (head == tensors.end() || embedding == tensors.end()) return;
  const TensorView &a = head->second.view, &b = embedding->second.view;
  if (a.dtype == b.dtype && a.shape == b.shape && std::equal(a.bytes.begin(), a.bytes.end(), b.bytes.begin()))
    tensors.erase(head);
}

template <typename Rename>
TensorViews views_of(const TransformerNetwork& model, WeightType type, const Rename& rename) {
  TensorViews views(type == WeightType::bf16 ? at::kBFloat16 : at::kFloat);
  for (const auto& [name, parameter] : model.named_parameters()) views.add(rename(name), parameter);
  return views;
}

}  // namespace

void load_weights(TransformerNetwork& model, const fs::path& folder) {
  CheckpointTensors opened = open_checkpoint_tensors(folder, model.config());
  std::map<std::string, CheckpointTensor>& tensors = opened.by_name;
  if (model.config().text.tie_word_embeddings) drop_tied_head(tensors);
  const auto parameters = parameters_of(model);
  if (const auto lines = mismatches(tensors, parameters); !lines.empty())
    throw Error("{}: the weights do not fit config.json:\n  {}\nIs the config of another model?", folder.string(),
                fmt::join(lines, "\n  "));
  const at::NoGradGuard no_grad;
  for (const auto& [name, parameter] : parameters) {
    std::vector<float> values = values_of(tensors.at(name));
    Tensor(parameter).copy_(at::from_blob(values.data(), parameter.sizes(), at::kFloat));
  }
}

void save_weights(const TransformerNetwork& model, const fs::path& path, WeightType type) {
  const auto name_in_file = [&](const std::string& name) { return saved_name(name, model.config()); };
  views_of(model, type, name_in_file).write(path);
}

void save_model_folder(const fs::path& folder, const ModelFolder& parts, const TransformerNetwork& model,
                       WeightType type) {
  save_model_files(folder, parts, type == WeightType::bf16 ? "bfloat16" : "float32");
  save_weights(model, folder / "model.safetensors", type);
}

EngineWeights engine_weights_of(const TransformerNetwork& model) {
  const auto same = [](const std::string& name) { return name; };
  return make_engine_weights(views_of(model, WeightType::f32, same).views(), model.config());
}

}  // namespace agon::agents
