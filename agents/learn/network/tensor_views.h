// agents/learn/network/tensor_views.h - converts LibTorch tensors to the plain memory of safetensors files, and back.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agents/hub/safetensors.h"

namespace agon::agents {

// The type of F32, F16 and BF16; nothing for other names.
std::optional<at::ScalarType> weight_type_of(const std::string& dtype);
at::Tensor to_tensor(const TensorView& view);  // a copy of the same type. REQUIRES: F32, F16 or BF16
// Copies tensors of the file into `tensors` of the same names, fp32. Throws Error for a tensor that is missing, or of
// another type or shape.
void read_tensors(const std::filesystem::path& path, const std::map<std::string, at::Tensor>& tensors);

// Views of named tensors in CPU memory. A tensor that is contiguous on the CPU in this type is viewed directly, others
// as copies that this object owns.
class TensorViews {
 public:
  explicit TensorViews(at::ScalarType type = at::kFloat) : type_(type) {}  // kFloat or kBFloat16
  void add(const std::string& name, const at::Tensor& tensor);
  const std::map<std::string, TensorView>& views() const { return views_; }
  void write(const std::filesystem::path& path) const;  // a safetensors file

 private:
  at::ScalarType type_;
  std::map<std::string, TensorView> views_;
  std::vector<at::Tensor> stored_;  // memory of the views
};

}  // namespace agon::agents
