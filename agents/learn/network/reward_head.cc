#include "agents/learn/network/reward_head.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/selu.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "core/error.h"
#include "core/text.h"

namespace agon::agents {
namespace {

using at::Tensor;

constexpr double kSpread = 0.01;  // standard deviation of fresh weights

template <typename Kind>
Kind parse_kind(const char* what, const std::string& name, const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return static_cast<Kind>(i);
  throw Error("{}", unknown_name_message(what, name, names));
}

Tensor rows_at(const Tensor& states, const std::vector<std::int64_t>& places) {
  return states.index_select(0, at::tensor(places, at::kLong).to(states.device()));
}

Tensor activate(HeadKind kind, const Tensor& x) {
  switch (kind) {
    case HeadKind::relu:
      return at::relu(x);
    case HeadKind::gelu:
      return at::gelu(x);
    case HeadKind::selu:
      return at::selu(x);
    case HeadKind::tanh:
      return x.tanh();
    case HeadKind::silu:
      return at::silu(x);
    case HeadKind::linear:
      break;
  }
  return x;
}

}  // namespace

const std::vector<std::string>& representation_names() {
  static const std::vector<std::string> names{"last", "first-and-last", "first-plus-last", "first-minus-last", "mean"};
  return names;
}
Representation parse_representation(const std::string& name) {
  return parse_kind<Representation>("representation", name, representation_names());
}

const std::vector<std::string>& head_names() {
  static const std::vector<std::string> names{"linear", "relu", "gelu", "selu", "tanh", "silu"};
  return names;
}
HeadKind parse_head(const std::string& name) { return parse_kind<HeadKind>("head", name, head_names()); }

Tensor represent(const Tensor& states, const std::vector<std::int64_t>& begins,
                 const std::vector<std::int64_t>& lengths, Representation representation) {
  if (representation == Representation::mean) {
    std::vector<Tensor> means;
    for (std::size_t i = 0; i < begins.size(); ++i) means.push_back(states.narrow(0, begins[i], lengths[i]).mean(0));
    return at::stack(means);
  }
  std::vector<std::int64_t> ends;
  for (std::size_t i = 0; i < begins.size(); ++i) ends.push_back(begins[i] + lengths[i] - 1);
  const Tensor last = rows_at(states, ends);
  if (representation == Representation::last) return last;
  const Tensor first = rows_at(states, begins);
  if (representation == Representation::first_and_last) return at::cat({first, last}, 1);
  return representation == Representation::first_plus_last ? first + last : first - last;
}

RewardHead::RewardHead(HeadKind kind, std::int64_t inputs, std::int64_t inner) : kind_(kind) {
  const auto draw = [&](const char* name, at::IntArrayRef sizes) {
    weights_[name] = at::zeros(sizes).normal_(0, kSpread).requires_grad_(true);
  };
  const auto zeros = [&](const char* name, std::int64_t size) {
    weights_[name] = at::zeros({size}).requires_grad_(true);
  };
  if (kind != HeadKind::linear) {
    draw("w1", {inner, inputs});
    zeros("b1", inner);
  }
  draw("w2", {1, kind == HeadKind::linear ? inputs : inner});
  zeros("b2", 1);
}

Tensor RewardHead::operator()(const Tensor& representations) const {
  Tensor x = representations;
  if (kind_ != HeadKind::linear) x = activate(kind_, at::linear(x, weights_.at("w1"), weights_.at("b1")));
  return at::linear(x, weights_.at("w2"), weights_.at("b2")).flatten();
}

}  // namespace agon::agents
