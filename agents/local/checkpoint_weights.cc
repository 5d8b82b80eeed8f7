#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <cstring>
#include <optional>

#include "agents/local/checkpoint.h"
#include "agents/local/qwen2_5_vl.h"
#include "agents/local/safetensors.h"
#include "core/error.h"

namespace agon::agents {
namespace {

namespace fs = std::filesystem;
using at::Tensor;

// Nothing for a type that is no weight.
std::optional<at::ScalarType> scalar_type(const std::string& dtype) {
  if (dtype == "F32") return at::kFloat;
  if (dtype == "F16") return at::kHalf;
  if (dtype == "BF16") return at::kBFloat16;
  return std::nullopt;
}

Tensor to_tensor(const TensorView& view) {
  Tensor tensor = at::empty(view.shape, *scalar_type(view.dtype));
  std::memcpy(tensor.data_ptr(), view.bytes.data(), view.bytes.size());
  return tensor;
}

std::string shape_text(at::IntArrayRef shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

// What is wrong between the tensors of a file (by hub name) and the parameters of the model, one line each.
std::vector<std::string> mismatches(const std::map<std::string, TensorView>& tensors,
                                    const std::map<std::string, Tensor>& parameters) {
  std::vector<std::string> lines;
  for (const auto& [name, parameter] : parameters) {
    const auto found = tensors.find(name);
    if (found == tensors.end())
      lines.push_back(fmt::format("missing {} {}", name, shape_text(parameter.sizes())));
    else if (parameter.sizes() != at::IntArrayRef(found->second.shape))
      lines.push_back(fmt::format("{} is {}, the config asks for {}", name, shape_text(found->second.shape),
                                  shape_text(parameter.sizes())));
    else if (!scalar_type(found->second.dtype))
      lines.push_back(fmt::format("{} is of type {}, not F32, F16 or BF16", name, found->second.dtype));
  }
  for (const auto& [name, view] : tensors)
    if (!parameters.count(name)) lines.push_back(fmt::format("unexpected {} {}", name, shape_text(view.shape)));
  return lines;
}

std::map<std::string, Tensor> parameters_of(const Qwen25VLImpl& model) {
  std::map<std::string, Tensor> result;
  for (const auto& item : model.named_parameters()) result.emplace(item.key(), item.value());
  return result;
}

// Some files repeat a tied embedding as lm_head: left out where it is the same, kept (and so refused) where it is not.
void drop_tied_head(std::map<std::string, TensorView>& tensors) {
  const auto head = tensors.find("lm_head.weight"), embedding = tensors.find("model.embed_tokens.weight");
  if (head == tensors.end() || embedding == tensors.end()) return;
  const TensorView &a = head->second, &b = embedding->second;
  if (a.dtype == b.dtype && a.shape == b.shape && std::equal(a.bytes.begin(), a.bytes.end(), b.bytes.begin()))
    tensors.erase(head);
}

// A model's weights as plain memory of one type; its own memory where that is of this type already.
struct WeightViews {
  WeightViews(const Qwen25VLImpl& model, WeightType type) {
    const at::NoGradGuard no_grad;
    const bool bfloat = type == WeightType::bf16;
    for (const auto& [name, parameter] : parameters_of(model)) {
      const Tensor& tensor =
          stored.emplace_back(parameter.to(at::kCPU, bfloat ? at::kBFloat16 : at::kFloat).contiguous());
      views[name] = {bfloat ? "BF16" : "F32",
                     tensor.sizes().vec(),
                     {static_cast<const std::uint8_t*>(tensor.data_ptr()), tensor.nbytes()}};
    }
  }
  std::map<std::string, TensorView> views;
  std::vector<Tensor> stored;  // what the views point into
};

}  // namespace

void load_weights(Qwen25VLImpl& model, const fs::path& folder) {
  const auto files = open_checkpoint_weights(folder);
  std::map<std::string, TensorView> tensors;
  for (const auto& file : files)
    for (const auto& [name, view] : file->tensors())
      if (!tensors.emplace(hub_name(name), view).second)
        throw Error("{}: tensor {} is there twice. Keep one set of weight files.", folder.string(), hub_name(name));
  if (model.config().text.tie_word_embeddings) drop_tied_head(tensors);
  const auto parameters = parameters_of(model);
  if (const auto lines = mismatches(tensors, parameters); !lines.empty())
    throw Error("{}: the weights do not fit config.json:\n  {}\nIs the config of another model?", folder.string(),
                fmt::join(lines, "\n  "));
  const at::NoGradGuard no_grad;
  for (const auto& [name, parameter] : parameters) Tensor(parameter).copy_(to_tensor(tensors.at(name)));
}

void save_weights(const Qwen25VLImpl& model, const fs::path& path, WeightType type) {
  write_safetensors(path, WeightViews(model, type).views, {{"format", "pt"}});
}

EngineWeights engine_weights_of(const Qwen25VLImpl& model) {
  return make_engine_weights(WeightViews(model, WeightType::f32).views, model.config());
}

}  // namespace agon::agents
