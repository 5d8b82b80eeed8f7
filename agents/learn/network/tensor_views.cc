#include "agents/learn/network/tensor_views.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <cstring>

#include "core/error.h"

namespace agon::agents {

std::optional<at::ScalarType> weight_type_of(const std::string& dtype) {
  if (dtype == "F32") return at::kFloat;
  if (dtype == "F16") return at::kHalf;
  if (dtype == "BF16") return at::kBFloat16;
  return std::nullopt;
}

at::Tensor to_tensor(const TensorView& view) {
  at::Tensor tensor = at::empty(view.shape, *weight_type_of(view.dtype));
  if (!view.bytes.empty()) std::memcpy(tensor.data_ptr(), view.bytes.data(), view.bytes.size());
  return tensor;
}

void read_tensors(const std::filesystem::path& path, const std::map<std::string, at::Tensor>& tensors) {
  const at::NoGradGuard no_grad;
  const auto file = SafetensorsFile::open(path);
  for (const auto& [name, tensor] : tensors) {
    const auto found = file->tensors().find(name);
    if (found == file->tensors().end() || found->second.dtype != "F32" || found->second.shape != tensor.sizes().vec())
      throw Error("{}: '{}' should be F32 of [{}].", path.string(), name, fmt::join(tensor.sizes(), ", "));
    tensor.copy_(to_tensor(found->second));
  }
}

void TensorViews::add(const std::string& name, const at::Tensor& tensor) {
  const at::NoGradGuard no_grad;
  const at::Tensor& plain = stored_.emplace_back(tensor.to(at::kCPU, type_).contiguous());
  views_[name] = {type_ == at::kBFloat16 ? "BF16" : "F32",
                  plain.sizes().vec(),
                  {static_cast<const std::uint8_t*>(plain.data_ptr()), plain.nbytes()}};
}

void TensorViews::write(const std::filesystem::path& path) const {
  write_safetensors(path, views_, {{"format", "pt"}});
}

}  // namespace agon::agents
