#include "agents/engine/packed_rows.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>

#include "agents/hub/mapped_file.h"

namespace agon::agents {
namespace {

// The type in which rows are packed.
struct Kept {
  bool bfloat = false;
  std::optional<kernels::CodeFormat> codes = {};
  bool operator==(const Kept&) const = default;
};
Kept kept_as(const LinearRows& rows, WeightKind kind) {
  const TensorType& type = *type_of(rows.weight);
  switch (kind) {
    case WeightKind::automatic:
      return {type.name == "BF16", type.format};
    case WeightKind::bf16:
      return {true};
    case WeightKind::q8:
      return {false, kEightBits};
    case WeightKind::q4:
      return {false, kFourBits};
    case WeightKind::f32:
      break;
  }
  return {};
}

// The rows of several tensors, numbered from 0 on.
class Stack {
 public:
  Stack(std::span<const LinearRows> tensors, int inputs)
      : tensors_(tensors), inputs_(static_cast<std::size_t>(inputs)) {
    for (const LinearRows& rows : tensors) {
      outputs_ += rows.outputs;
      bias_.insert(bias_.end(), rows.bias.begin(), rows.bias.end());
    }
  }
  int outputs() const { return outputs_; }
  int inputs() const { return static_cast<int>(inputs_); }
  const float* bias() const { return bias_.empty() ? nullptr : bias_.data(); }
  const TensorType& type(int row) const { return *type_of(place(row).tensor); }
  std::span<const std::uint8_t> bytes(int row) const {
    const Place at = place(row);
    return row_bytes(at.tensor, at.row);
  }
  std::int64_t size() const {  // bytes in the checkpoint
    std::int64_t bytes = 0;
    for (const LinearRows& rows : tensors_) bytes += std::ssize(rows.weight.view.bytes);
    return bytes;
  }
  // Releases the file's pages that lie entirely in these rows. A page that is needed later is read again.
  void release(int begin, int end) const {
    for (const LinearRows& rows : tensors_) {
      const int first = std::clamp(begin, 0, rows.outputs), last = std::clamp(end, 0, rows.outputs);
      const auto row = rows.weight.view.bytes.size() / static_cast<std::size_t>(rows.outputs);
      if (rows.weight.is_mapped)
        release_pages(rows.weight.view.bytes.subspan(static_cast<std::size_t>(first) * row,
                                                     static_cast<std::size_t>(last - first) * row));
      begin -= rows.outputs, end -= rows.outputs;
    }
  }
  // Valid until the next call on this thread.
  const std::vector<float>& values(int row) const {
    thread_local std::vector<float> values;
    values.resize(inputs_);
    read_values(type(row), bytes(row), values);
    return values;
  }

 private:
  struct Place {
    const CheckpointTensor& tensor;
    int row;
  };
  Place place(int row) const {
    std::size_t i = 0;
    for (; row >= tensors_[i].outputs; ++i) row -= tensors_[i].outputs;
    return {tensors_[i].weight, row};
  }
  std::span<const LinearRows> tensors_;
  std::size_t inputs_;
  int outputs_ = 0;
  std::vector<float> bias_;
};

// Packs a few MB of rows at a time, and then releases the pages of the file that hold them. Otherwise the file would
// take memory in addition to the packed weights.
class PiecewiseRead {
 public:
  PiecewiseRead(const Stack& stack, const kernels::ParallelFor& parallel) : stack_(stack), parallel_(parallel) {}

  kernels::ParallelFor in_pieces() const {
    return [this](std::int64_t count, const auto& body) {
      const std::int64_t piece = std::max<std::int64_t>(1, count * kPiece / std::max<std::int64_t>(stack_.size(), 1));
      kernels::run_parallel(parallel_, count, [&](std::int64_t begin, std::int64_t end) {
        for (; begin < end; begin += piece) read(body, begin, std::min(begin + piece, end), count);
      });
    };
  }

 private:
  static constexpr std::int64_t kPiece = 4 << 20;

  void read(const auto& body, std::int64_t begin, std::int64_t end, std::int64_t count) const {
    body(begin, end);
    stack_.release(static_cast<int>(begin * stack_.outputs() / count),
                   static_cast<int>(end * stack_.outputs() / count));
  }

  const Stack& stack_;
  const kernels::ParallelFor& parallel_;
};

kernels::PackedLinear pack_floats(const Stack& stack, const kernels::ParallelFor& parallel) {
  return kernels::pack_linear(
      stack.outputs(), stack.inputs(), stack.bias(), [&](int row) { return stack.values(row).data(); }, parallel);
}

kernels::BfloatLinear pack_bfloats(const Stack& stack, const kernels::ParallelFor& parallel) {
  return kernels::pack_bfloat_linear(
      stack.outputs(), stack.inputs(), stack.bias(),
      [&](int row, std::uint16_t* bits) {
        if (stack.type(row).name == "BF16")  // a file's rows may be unaligned
          std::memcpy(bits, stack.bytes(row).data(), sizeof *bits * static_cast<std::size_t>(stack.inputs()));
        else
          kernels::round_to_bfloat(stack.values(row).data(), stack.inputs(), bits);
      },
      parallel);
}

bool can_view(const LinearRows& rows, int inputs) {
  return kernels::views_bfloat_rows() && inputs % 2 == 0 && rows.weight.is_mapped && rows.weight.row_order.empty() &&
         type_of(rows.weight)->name == "BF16";
}
kernels::BfloatLinear view_bfloats(const LinearRows& rows, int inputs) {
  return kernels::view_bfloat_linear(rows.outputs, inputs, rows.bias.empty() ? nullptr : rows.bias.data(),
                                     rows.weight.view.bytes.data());
}

kernels::CodedLinear pack_codes(const Stack& stack, const kernels::CodeFormat& format,
                                const kernels::ParallelFor& parallel) {
  return kernels::pack_coded_linear(
      format, stack.outputs(), stack.inputs(), stack.bias(),
      [&](int row) {
        thread_local RowCodes codes;
        if (stack.type(row).format == format)
          read_row_codes(stack.type(row), stack.bytes(row).data(), stack.inputs(), codes);
        else
          make_row_codes(format, stack.values(row).data(), stack.inputs(), codes);
        return kernels::CodedRow{codes.codes.data(), codes.scales.data(),
                                 codes.offsets.empty() ? nullptr : codes.offsets.data()};
      },
      parallel);
}

std::int64_t rounded_up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

std::int64_t packed_bytes(const CheckpointTensor& weight, WeightKind kind) {
  const std::int64_t outputs = weight.view.shape.at(0), inputs = weight.view.shape.at(1);
  const Kept kept = kept_as({weight, static_cast<int>(outputs), {}}, kind);
  if (kept.codes) return kernels::coded_bytes(*kept.codes, outputs, inputs);
  return kept.bfloat ? rounded_up(outputs, 16) * rounded_up(inputs, 2) * 2 : rounded_up(outputs, 32) * inputs * 4;
}

TypedLinear pack_rows(std::span<const LinearRows> rows, int inputs, WeightKind kind,
                      const kernels::ParallelFor& parallel) {
  TypedLinear linear;
  while (!rows.empty()) {
    const Kept kept = kept_as(rows.front(), kind);
    if (kept.bfloat && can_view(rows.front(), inputs)) {
      linear.add(view_bfloats(rows.front(), inputs));
      rows = rows.subspan(1);
      continue;
    }
    std::size_t count = 1;
    while (count < rows.size() && kept_as(rows[count], kind) == kept) ++count;
    const Stack stack(rows.first(count), inputs);
    const PiecewiseRead read(stack, parallel);
    if (kept.codes)
      linear.add(pack_codes(stack, *kept.codes, read.in_pieces()));
    else if (kept.bfloat)
      linear.add(pack_bfloats(stack, read.in_pieces()));
    else
      linear.add(pack_floats(stack, read.in_pieces()));
    stack.release(0, stack.outputs());
    rows = rows.subspan(count);
  }
  return linear;
}

}  // namespace agon::agents
