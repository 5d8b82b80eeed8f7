// agents/learn/network/tensor_views.h - tensors of LibTorch as the plain memory that safetensors files hold, and back.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agents/hub/safetensors.h"

namespace agon::agents {

// F32, F16 and BF16; nothing for a type that is no weight.
std::optional<at::ScalarType> weight_type_of(const std::string& dtype);
at::Tensor to_tensor(const TensorView& view);  // a copy of the same type. REQUIRES: it is a weight's
// Copies tensors of the file into these of the same names, fp32. Throws Error for one that is not there, or is of
// another type or shape.
void read_tensors(const std::filesystem::path& path, const std::map<std::string, at::Tensor>& tensors);

// Named tensors in the CPU's memory: their own where they lie there in this type already, else a copy that this owns.
class TensorViews {
 public:
  explicit TensorViews(at::ScalarType type = at::kFloat) : type_(type) {}  // kFloat or kBFloat16
  void add(const std::string& name, const at::Tensor& tensor);
  const std::map<std::string, TensorView>& views() const { return views_; }
  void write(const std::filesystem::path& path) const;  // a safetensors file

 private:
  at::ScalarType type_;
  std::map<std::string, TensorView> views_;
  std::vector<at::Tensor> stored_;  // what the views point into
};

}  // namespace agon::agents
