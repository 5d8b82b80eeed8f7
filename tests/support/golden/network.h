// tests/support/golden/network.h - compares the torch network of a golden model with transformers.
#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cross_entropy_loss.h>

#include <cstdint>
#include <vector>

#include "golden/model.h"
#include "tensors.h"
#include "torch_catch.h"

namespace agon::test {

// Checks the logits of each row, up to its length.
inline void check_logits(GoldenModel& golden) {
  const at::Tensor expected = golden["logits"], logits = golden.logits();
  REQUIRE(logits.sizes() == expected.sizes());
  const std::vector<std::int64_t> lengths = golden.lengths();
  for (std::size_t row = 0; row < lengths.size(); ++row) {
    const auto index = static_cast<std::int64_t>(row);
    INFO("row " << row);
    CHECK(largest_difference(logits[index].narrow(0, 0, lengths[row]), expected[index].narrow(0, 0, lengths[row])) <
          1e-4);
  }
}

// The mean cross-entropy of the golden batch, over each row's tokens after the first.
inline at::Tensor golden_loss(GoldenModel& golden) {
  std::vector<at::Tensor> logits, labels;
  const at::Tensor all = golden.logits(), ids = golden["ids"];
  const std::vector<std::int64_t> lengths = golden.lengths();
  for (std::size_t row = 0; row < lengths.size(); ++row) {
    const std::int64_t index = static_cast<std::int64_t>(row), count = lengths[row] - 1;
    logits.push_back(all[index].narrow(0, 0, count));
    labels.push_back(ids[index].narrow(0, 1, count));
  }
  return at::cross_entropy_loss(at::cat(logits), at::cat(labels));
}

// Checks the loss and its gradients. Returns the number of parameters that have golden gradients.
inline int check_gradients(GoldenModel& golden) {
  const at::Tensor loss = golden_loss(golden);
  CHECK(loss.item<double>() == Approx(golden["loss"].item<double>()).epsilon(1e-5));
  loss.backward();
  int compared = 0;
  for (const auto& [key, parameter] : golden.model->named_parameters()) {
    const at::Tensor expected = golden.find("gradient." + key);
    if (!expected.defined()) continue;
    INFO(key);
    const double scale = expected.abs().max().item<double>();
    CHECK(scale > 0);
    CHECK(largest_difference(parameter.grad(), expected) < 1e-4 * scale + 1e-6);
    ++compared;
  }
  return compared;
}

}  // namespace agon::test
