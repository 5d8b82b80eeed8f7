// agents/learn/network/reward_head.h - computes the score of a response from its hidden states (YOJO, Eq. 3, Eq. 4,
// Table 5). Letters: T tokens of a response, H hidden, N responses.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace agon::agents {

// The representation of a response: the state of its last token; [first, last] concatenated; their sum; their
// difference; the mean of all its states.
enum class Representation { last, first_and_last, first_plus_last, first_minus_last, mean };
const std::vector<std::string>& representation_names();        // "last", "first-and-last", ...
Representation parse_representation(const std::string& name);  // throws Error naming the nearest
// Returns [N, H], or [N, 2 H] for first_and_last. states [rows, H]: response i has `lengths[i]` > 0 rows, from
// begins[i] on.
at::Tensor represent(const at::Tensor& states, const std::vector<std::int64_t>& begins,
                     const std::vector<std::int64_t>& lengths, Representation representation);

// The kind of head: r = w2 . act(W1 h + b1) + b2 with this activation, or r = w . h + b for `linear`.
enum class HeadKind { linear, relu, gelu, selu, tanh, silu };
const std::vector<std::string>& head_names();
HeadKind parse_head(const std::string& name);  // throws Error naming the nearest

class RewardHead {
 public:
  // Weights drawn from N(0, std 0.01), biases zero. inner: width of the two-layer heads.
  RewardHead(HeadKind kind, std::int64_t inputs, std::int64_t inner);
  at::Tensor operator()(const at::Tensor& representations) const;  // [N, inputs] -> [N]
  // By name ("w1", "b1", "w2", "b2"; linear: "w2", "b2").
  const std::map<std::string, at::Tensor>& weights() const { return weights_; }

 private:
  HeadKind kind_;
  std::map<std::string, at::Tensor> weights_;
};

}  // namespace agon::agents
