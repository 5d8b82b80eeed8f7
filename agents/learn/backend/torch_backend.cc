#include "agents/learn/backend/torch_backend.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/tensor.h>
#include <c10/core/CachingDeviceAllocator.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "agents/engine/memory_plan.h"
#include "agents/engine/open_backend.h"
#include "agents/hub/checkpoint_tensors.h"
#include "agents/hub/peft_adapter.h"
#include "agents/learn/network/checkpoint_weights.h"
#include "agents/learn/network/tensor_views.h"
#include "agents/learn/network/torch_info.h"
#include "core/error.h"

namespace agon::agents {
namespace {

using at::Tensor;

// The matrices of an adapter on the backend's device.
struct TorchAdapter : EngineAdapter {
  std::map<std::string, LowRank> modules;
};

// While it exists, the adapter is part of every pass of the model. null: nothing changes.
class Applied {
 public:
  Applied(const TransformerNetwork& model, const EngineAdapter* adapter) {
    if (adapter == nullptr) return;
    for (const auto& [module, matrices] : static_cast<const TorchAdapter*>(adapter)->modules) {
      LowRank& place = *model.linears().at(module).low_rank;
      before_.emplace_back(&place, std::exchange(place, matrices));
    }
  }
  ~Applied() {
    for (auto& [place, matrices] : before_) *place = std::move(matrices);
  }
  Applied(const Applied&) = delete;
  Applied& operator=(const Applied&) = delete;

 private:
  std::vector<std::pair<LowRank*, LowRank>> before_;
};

// Runs the body and turns LibTorch's exceptions into Error.
template <typename Body>
void on_torch(const Body& body) {
  const at::NoGradGuard no_grad;
  try {
    body();
  } catch (const c10::OutOfMemoryError&) {
    throw Error("policy: the memory of the device ran out. Lower the number of sequences decoded together.");
  } catch (const c10::Error& error) {
    throw Error("policy: LibTorch failed: {}", error.what_without_backtrace());
  }
}

Tensor tensor_of(const float* values, std::int64_t rows, std::int64_t columns) {
  return at::from_blob(const_cast<float*>(values), {rows, columns}, at::kFloat);
}

void copy_out(const Tensor& tensor, float* out) {
  const Tensor values = tensor.to(at::kCPU, at::kFloat).contiguous();
  std::copy_n(values.const_data_ptr<float>(), values.numel(), out);
}

// The tensors of a pass.
struct PassInputs {
  PassInputs(std::span<const DecoderRow> rows, std::int64_t embedding_size, at::Device device) {
    std::vector<std::int64_t> tokens, places(3 * rows.size()), image_rows;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      tokens.push_back(rows[i].token);
      for (std::size_t axis = 0; axis < 3; ++axis) places[axis * rows.size() + i] = rows[i].position[axis];
      if (rows[i].embedding) image_rows.push_back(static_cast<std::int64_t>(i));
    }
    ids = at::tensor(tokens, at::kLong).to(device);
    positions = at::tensor(places, at::kLong).view({3, -1}).to(device);
    if (image_rows.empty()) return;
    slots = at::tensor(image_rows, at::kLong).to(device);
    const Tensor all = at::empty({std::ssize(image_rows), embedding_size}, at::kFloat);
    float* to = all.mutable_data_ptr<float>();
    for (const std::int64_t row : image_rows)
      to = std::copy_n(rows[static_cast<std::size_t>(row)].embedding, embedding_size, to);
    embeddings = all.to(device);
  }
  Tensor ids, positions, slots, embeddings;  // the last two: undefined if no row is a picture's
};

std::int64_t default_cache_bytes(at::Device device) {
  if (device.is_cpu()) return machine_memory() / 4;
  const std::size_t free = c10::getDeviceAllocator(device.type())->getMemoryInfo(device.index()).first;
  return static_cast<std::int64_t>(free / 2);
}

std::int64_t bytes_of(const TransformerNetwork& model) {
  std::int64_t bytes = 0;
  for (const auto& [name, tensor] : model.named_parameters()) bytes += static_cast<std::int64_t>(tensor.nbytes());
  return bytes;
}

// limit: bytes for weights, keys and values together; 0: default_cache_bytes for keys and values.
std::int64_t pages_in(std::int64_t limit, const TransformerNetwork& model, const PageMemory& memory) {
  const std::int64_t left = limit > 0 ? limit - bytes_of(model) : default_cache_bytes(model.device());
  return std::max<std::int64_t>(0, left) / memory.page_bytes();
}

at::Device named_device(const std::string& name) {
  if (name == "torch:cpu") return at::kCPU;
  const at::Device device(name == "cuda" ? "cuda:0" : name);
  const TorchInfo info = torch_info();
  if (!info.cuda_compiled)
    throw Error("policy: the device '{}' needs a program with CUDA. Build it with script/build cuda.", name);
  if (device.index() >= info.cuda_devices)
    throw Error("policy: the device '{}' does not exist: LibTorch finds {} GPUs. Use the device cpu.", name,
                info.cuda_devices);
  return device;
}

at::ScalarType weight_type(const std::filesystem::path& folder, const ModelConfig& config, WeightKind kind) {
  if (kind == WeightKind::f32) return at::kFloat;
  if (kind == WeightKind::bf16) return at::kBFloat16;
  if (kind != WeightKind::automatic)
    throw Error("policy: LibTorch computes with weights of f32 or bf16, not {}. Give one of them, or the device cpu.",
                name_of(kind));
  const CheckpointTensors tensors = open_checkpoint_tensors(folder, config);
  const auto found = tensors.by_name.find("model.embed_tokens.weight");
  return found != tensors.by_name.end() && found->second.view.dtype == "BF16" ? at::kBFloat16 : at::kFloat;
}

}  // namespace

TorchBackend::TorchBackend(std::shared_ptr<TransformerNetwork> model, std::int64_t limit)
    : model_(std::move(model)),
      memory_(model_->config().text, options()),
      pages_(memory_.page_bytes(), pages_in(limit, *model_, memory_)) {}

void TorchBackend::set_weights(std::shared_ptr<TransformerNetwork> model) {
  const Tensor &before = model_->lm_head(), &after = model->lm_head();
  if (before.device() != after.device() || before.scalar_type() != after.scalar_type())
    throw Error("policy: weights of type {} on {} cannot take the place of those of type {} on {}.",
                c10::toString(after.scalar_type()), after.device().str(), c10::toString(before.scalar_type()),
                before.device().str());
  model_ = std::move(model);
}

BackendTraits TorchBackend::traits() const {
  return {.is_threaded = false,
          .rows_a_pass = 1024,
          .sequences_a_pass = 512,
          .logits_a_pass = 1 << 24,
          .tokens_a_step = 4096};
}

std::size_t TorchBackend::weight_bytes() const { return static_cast<std::size_t>(bytes_of(*model_)); }

std::size_t TorchBackend::step_bytes() const {
  std::size_t bytes = 0;
  const bool is_tied = model_->config().text.tie_word_embeddings;
  for (const auto& [name, tensor] : model_->named_parameters())
    if (!name.starts_with("visual.") && (is_tied || name != "model.embed_tokens.weight")) bytes += tensor.nbytes();
  return bytes;
}

std::shared_ptr<const EngineAdapter> TorchBackend::load_adapter(const std::filesystem::path& folder) const {
  const PeftAdapter file = open_peft_adapter(folder, adaptable_linears(model_->config()));
  const auto adapter = std::make_shared<TorchAdapter>();
  adapter->id = adapter_id(file);
  for (const auto& [module, matrices] : file.modules) {
    adapter->adapts_vision = adapter->adapts_vision || module.starts_with("visual.");
    adapter->modules[module] = {to_tensor(matrices.a).to(options()), to_tensor(matrices.b).to(options()),
                                file.config.scale()};
  }
  return adapter;
}

std::vector<float> TorchBackend::encode_image(const PatchedImage& image, const EngineAdapter* adapter,
                                              const kernels::ParallelFor&) {
  std::vector<float> embeddings;
  on_torch([&] {
    const Applied applied(*model_, adapter && adapter->adapts_vision ? adapter : nullptr);
    const std::int64_t rows = image.grid.patches();
    const Tensor patches = tensor_of(image.patches.data(), rows, std::ssize(image.patches) / rows);
    const Tensor encoded = model_->encode_images(patches.to(model_->device()), {&image.grid, 1});
    embeddings.resize(static_cast<std::size_t>(encoded.numel()));
    copy_out(encoded, embeddings.data());
  });
  return embeddings;
}

void TorchBackend::copy_rest(const KeyValues& from, std::int64_t tokens, KeyValues& to) {
  if (tokens % kernels::kKeyBlock == 0) return;
  on_torch([&] {
    memory_.require(pages_.numbers(), pages_.max_pages());
    memory_.copy_page(from.place_of(tokens) / kernels::kKeyBlock, to.place_of(tokens) / kernels::kKeyBlock);
  });
}

void TorchBackend::forward(std::span<const DecoderRow> rows, float* hidden, const kernels::ParallelFor&) {
  on_torch([&] {
    memory_.require(pages_.numbers(), pages_.max_pages());
    for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
      for (end = begin + 1; end < rows.size() && rows[end].adapter == rows[begin].adapter;) ++end;
      forward_adapted(rows.subspan(begin, end - begin),
                      hidden + static_cast<std::int64_t>(begin) * model_->config().text.hidden_size);
    }
  });
}

void TorchBackend::forward_adapted(std::span<const DecoderRow> rows, float* hidden) {
  const ModelConfig& config = model_->config();
  const std::int64_t vectors = config.vision ? config.vision->vectors_a_token() : 1;
  const Applied applied(*model_, rows.front().adapter);
  const PassInputs inputs(rows, vectors * config.text.hidden_size, model_->device());
  const PagedAttention attention(memory_, rows);
  copy_out(model_->row_states(inputs.ids, inputs.positions, inputs.slots, inputs.embeddings, std::cref(attention)),
           hidden);
}

void TorchBackend::logits(const float* hidden, std::int64_t rows, float* out, const kernels::ParallelFor&) {
  on_torch([&] {
    const Tensor states = tensor_of(hidden, rows, model_->config().text.hidden_size);
    copy_out(model_->logits(states.to(options())), out);
  });
}

std::unique_ptr<ModelBackend> open_torch_backend(const std::filesystem::path& folder, const ModelConfig& config,
                                                 const BackendOptions& options) {
  const MemoryWish& wish = options.memory;
  if (wish.keys != kernels::KeyType::f32)
    throw Error("policy: on the device {} keys and values have the type of the weights. Leave --kv {} out.",
                options.device, name_of(wish.keys));
  const auto blank = at::TensorOptions(weight_type(folder, config, wish.weights)).device(named_device(options.device));
  const auto model = std::make_shared<TransformerNetwork>(config, blank);
  auto backend = std::make_unique<TorchBackend>(model, wish.limit);
  if (wish.limit > 0 && backend->pages().max_pages() == 0)
    throw Error(
        "{}: it does not fit into {:.1f} MB: its weights take {:.1f} MB and keys and values {:.1f} MB for every {} "
        "tokens. Choose a smaller model, or raise --memory.",
        folder.string(), 1e-6 * static_cast<double>(wish.limit), 1e-6 * static_cast<double>(backend->weight_bytes()),
        1e-6 * static_cast<double>(backend->pages().page_bytes()), kernels::kKeyBlock);
  load_weights(*model, folder);
  return backend;
}

}  // namespace agon::agents
