#include "agents/engine/typed_linear.h"

#include <cassert>
#include <utility>

namespace agon::agents {
namespace {

using kernels::BfloatLinear;
using kernels::CodedLinear;
using kernels::PackedLinear;

int inputs_of(const LinearPart& part) {
  return std::visit([](const auto& weight) { return weight.inputs; }, part);
}
int outputs_of(const LinearPart& part) {
  return std::visit([](const auto& weight) { return weight.outputs; }, part);
}

// One call of run_linear; converts the inputs to each type at most once.
class Run {
 public:
  Run(const TypedLinear& weights, const float* x, std::int64_t rows, kernels::Store mode, LinearScratch& scratch,
      const kernels::ParallelFor& parallel)
      : weights_(weights), x_(x), rows_(rows), mode_(mode), scratch_(scratch), parallel_(parallel) {}

  void operator()(const PackedLinear& part, float* y) const {
    kernels::linear(part, x_, rows_, weights_.inputs, y, weights_.outputs, mode_, parallel_);
  }
  void operator()(const BfloatLinear& part, float* y) {
    if (!std::exchange(has_bfloats_, true))
      kernels::round_inputs(x_, rows_, weights_.inputs, weights_.inputs, scratch_.bfloats, parallel_);
    kernels::bfloat_linear(part, scratch_.bfloats, y, weights_.outputs, mode_, parallel_);
  }
  void operator()(const CodedLinear& part, float* y) {
    if (!std::exchange(has_codes_, true))
      kernels::code_inputs(x_, rows_, weights_.inputs, weights_.inputs, scratch_.codes, parallel_);
    kernels::coded_linear(part, scratch_.codes, y, weights_.outputs, mode_, parallel_);
  }

 private:
  const TypedLinear& weights_;
  const float* const x_;
  const std::int64_t rows_;
  const kernels::Store mode_;
  LinearScratch& scratch_;
  const kernels::ParallelFor& parallel_;
  bool has_bfloats_ = false, has_codes_ = false;
};

}  // namespace

void TypedLinear::add(LinearPart part) {
  assert(parts.empty() || inputs == inputs_of(part));
  inputs = inputs_of(part);
  outputs += outputs_of(part);
  parts.push_back(std::move(part));
}

void run_linear(const TypedLinear& weights, const float* x, std::int64_t rows, float* y, kernels::Store mode,
                LinearScratch& scratch, const kernels::ParallelFor& parallel) {
  Run run(weights, x, rows, mode, scratch, parallel);
  for (const LinearPart& part : weights.parts) {
    std::visit([&](const auto& weight) { run(weight, y); }, part);
    y += outputs_of(part);
  }
}

void decode_row(const TypedLinear& weights, int output, float* row) {
  for (const LinearPart& part : weights.parts) {
    if (output < outputs_of(part))
      return std::visit([&](const auto& weight) { kernels::decode_row(weight, output, row); }, part);
    output -= outputs_of(part);
  }
}

std::size_t bytes_of(const TypedLinear& weights) {
  std::size_t bytes = 0;
  for (const LinearPart& part : weights.parts)
    bytes += std::visit([](const auto& weight) { return kernels::bytes_of(weight); }, part);
  return bytes;
}

}  // namespace agon::agents
