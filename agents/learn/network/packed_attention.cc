#include "agents/learn/network/packed_attention.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>

#include "agents/learn/network/dot.h"
#include "core/error.h"
#include "kernels/multiversion.h"
#include "kernels/softmax/softmax.h"

namespace agon::agents {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::tensor_list;

constexpr std::int64_t kBlockRows = 256;  // queries per block of attention weights

bool is_plain(const at::TensorOptions& options) { return options.device().is_cpu() && options.dtype() == at::kFloat; }

std::int64_t deepest(const PackedTree& tree) {
  std::int64_t depth = 0;
  for (const PackedSegment& segment : tree) depth = std::max(depth, segment.prefix + segment.length);
  return depth;
}

// The visible rows while a tree is read.
class RowStack {
 public:
  // Returns the rows that the segment takes from the stack, lowest first.
  std::vector<std::int64_t> push(const PackedSegment& segment) {
    const auto kept = rows_.begin() + segment.prefix;
    std::vector<std::int64_t> taken(kept, rows_.end());
    rows_.erase(kept, rows_.end());
    for (std::int64_t i = 0; i < segment.length; ++i) rows_.push_back(segment.begin + i);
    return taken;
  }
  const std::vector<std::int64_t>& rows() const { return rows_; }

 private:
  std::vector<std::int64_t> rows_;
};

// One head of keys and values: queries [R * group, d], the others [R, d].
struct Head {
  Tensor queries, keys, values;
  std::int64_t group = 1;  // query heads of one key-value head
  float scale = 1;
};

// A block of a segment's queries. Its last row sees `count` keys on the stack; its row i of the sequence sees the first
// first_count + i.
struct Block {
  std::int64_t begin = 0, rows = 0;  // of queries
  std::int64_t count = 0, first_count = 0;
};

std::vector<Block> blocks_of(const PackedSegment& segment, std::int64_t group) {
  const std::int64_t step = std::max<std::int64_t>(1, kBlockRows / group);
  std::vector<Block> blocks;
  for (std::int64_t at = 0; at < segment.length; at += step) {
    const std::int64_t length = std::min(step, segment.length - at);
    blocks.push_back(
        {(segment.begin + at) * group, length * group, segment.prefix + at + length, segment.prefix + at + 1});
  }
  return blocks;
}

// Keys and values on the stack.
struct KeyStack {
  KeyStack(std::int64_t depth, const Tensor& like)
      : keys(at::empty({depth, like.size(-1)}, like.options())), values(at::empty_like(keys)) {}
  void push(const PackedSegment& segment, const Head& head) {
    keys.narrow(0, segment.prefix, segment.length).copy_(head.keys.narrow(0, segment.begin, segment.length));
    values.narrow(0, segment.prefix, segment.length).copy_(head.values.narrow(0, segment.begin, segment.length));
  }
  Tensor keys, values;
};

// Room for a block's products, reused by all of them.
class Scratch {
 public:
  Scratch(std::int64_t group, std::int64_t depth, const Tensor& like)
      : memory_(at::empty({std::max(kBlockRows, group) * depth}, like.options())) {}
  Tensor of(const Block& block) const {
    return memory_.narrow(0, 0, block.rows * block.count).view({block.rows, block.count});
  }

 private:
  Tensor memory_;
};

AGON_MULTIVERSION void multiply(float* values, std::int64_t count, float factor) {
  for (std::int64_t i = 0; i < count; ++i) values[i] *= factor;
}

AGON_MULTIVERSION void score_gradients(const float* weights, float* gradients, std::int64_t count, float mean,
                                       float scale) {
  for (std::int64_t i = 0; i < count; ++i) gradients[i] = weights[i] * (gradients[i] - mean) * scale;
}

// Scores -> weights of the softmax over the keys that each row sees, 0 for the rest.
void weigh(const Tensor& scores, const Block& block, const Head& head) {
  auto* line = scores.mutable_data_ptr<float>();
  for (std::int64_t row = 0; row < block.rows; ++row, line += block.count) {
    const std::int64_t seen = block.first_count + row / head.group;
    const auto sums = kernels::softmax_weights(line, seen, head.scale, line);
    multiply(line, seen, static_cast<float>(1 / sums.total));
    std::fill(line + seen, line + block.count, 0.0f);
  }
}

void attend(const PackedTree& tree, const Head& head, const Tensor& out) {
  KeyStack stack(deepest(tree), head.keys);
  const Scratch scratch(head.group, deepest(tree), head.keys);
  for (const PackedSegment& segment : tree) {
    stack.push(segment, head);
    for (const Block& block : blocks_of(segment, head.group)) {
      Tensor scores = scratch.of(block), answers = out.narrow(0, block.begin, block.rows);
      at::mm_out(scores, head.queries.narrow(0, block.begin, block.rows), stack.keys.narrow(0, 0, block.count).t());
      weigh(scores, block, head);
      at::mm_out(answers, scores, stack.values.narrow(0, 0, block.count));
    }
  }
}

// Gradients of a head, shaped as its inputs.
struct HeadGradients {
  Tensor queries, keys, values;
};

// The backward pass of one block: sets the gradients of its queries, adds to those of the keys and values on the stack.
void attend_back(const Block& block, const Head& head, const KeyStack& stack, const Tensor& answer_gradients,
                 const Tensor& weights, const Tensor& gradients, const Tensor& query_gradients,
                 const KeyStack& stack_gradients) {
  Tensor scores = weights, d_scores = gradients, d_queries = query_gradients;
  const Tensor queries = head.queries.narrow(0, block.begin, block.rows), keys = stack.keys.narrow(0, 0, block.count);
  at::mm_out(scores, queries, keys.t());
  weigh(scores, block, head);
  at::mm_out(d_scores, answer_gradients, stack.values.narrow(0, 0, block.count).t());
  stack_gradients.values.narrow(0, 0, block.count).addmm_(scores.t(), answer_gradients);
  const float* weight = scores.const_data_ptr<float>();
  float* gradient = d_scores.mutable_data_ptr<float>();
  for (std::int64_t row = 0; row < block.rows; ++row, weight += block.count, gradient += block.count)
    score_gradients(weight, gradient, block.count, dot(weight, gradient, block.count), head.scale);
  at::mm_out(d_queries, d_scores, keys);
  stack_gradients.keys.narrow(0, 0, block.count).addmm_(d_scores.t(), queries);
}

// Moves the gradients of `rows` from the stack, where they start at `place`, to the rows' own places.
void settle(const std::vector<std::int64_t>& rows, std::int64_t place, const Tensor& from, const Tensor& to) {
  const std::int64_t width = from.size(1);
  float* source = from.mutable_data_ptr<float>() + place * width;
  for (const std::int64_t row : rows) {
    std::copy_n(source, width, to.mutable_data_ptr<float>() + row * to.stride(0));
    std::fill_n(source, width, 0.0f);
    source += width;
  }
}

void attend_back(const PackedTree& tree, const Head& head, const Tensor& answer_gradients, const HeadGradients& to) {
  const std::int64_t depth = deepest(tree);
  KeyStack stack(depth, head.keys), gradients(depth, head.keys);
  gradients.keys.zero_();
  gradients.values.zero_();
  const Scratch weights(head.group, depth, head.keys), products(head.group, depth, head.keys);
  RowStack rows;
  const auto settle_all = [&](const std::vector<std::int64_t>& taken, std::int64_t place) {
    settle(taken, place, gradients.keys, to.keys);
    settle(taken, place, gradients.values, to.values);
  };
  for (const PackedSegment& segment : tree) {
    settle_all(rows.push(segment), segment.prefix);
    stack.push(segment, head);
    for (const Block& block : blocks_of(segment, head.group))
      attend_back(block, head, stack, answer_gradients.narrow(0, block.begin, block.rows), weights.of(block),
                  products.of(block), to.queries.narrow(0, block.begin, block.rows), gradients);
  }
  settle_all(rows.rows(), 0);
}

// x [R, heads, d] -> [key-value heads, R * group, d], and back.
Tensor by_head(const Tensor& x, std::int64_t key_heads) {
  const std::int64_t rows = x.size(0), group = x.size(1) / key_heads, width = x.size(2);
  return x.reshape({rows, key_heads, group, width})
      .transpose(0, 1)
      .reshape({key_heads, rows * group, width})
      .contiguous();
}
Tensor by_row(const Tensor& x, std::int64_t group) {
  const std::int64_t key_heads = x.size(0), rows = x.size(1) / group, width = x.size(2);
  return x.view({key_heads, rows, group, width}).transpose(0, 1).reshape({rows, key_heads * group, width});
}

// Calls the body for every tree and key-value head, on ATen's threads.
template <typename Body>
void for_each_head(const PackedLayout& layout, const Tensor& grouped, const Tensor& keys, const Tensor& values,
                   const Body& body) {
  const std::int64_t heads = keys.size(1), group = grouped.size(1) / std::max<std::int64_t>(1, keys.size(0));
  const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(keys.size(2))));
  const auto tasks = static_cast<std::int64_t>(layout.trees.size()) * heads;
  at::parallel_for(0, tasks, 1, [&](std::int64_t begin, std::int64_t end) {
    const at::NoGradGuard no_grad;  // the guard is per thread
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t index = task % heads;
      const Head head{grouped[index], keys.select(1, index), values.select(1, index), group, scale};
      body(layout.trees[static_cast<std::size_t>(task / heads)], head, index);
    }
  });
}

// Holds the layout for autograd.
struct LayoutHolder : torch::CustomClassHolder {
  explicit LayoutHolder(std::shared_ptr<const PackedLayout> holds) : layout(std::move(holds)) {}
  std::shared_ptr<const PackedLayout> layout;
};

struct PackedAttentionFunction : Function<PackedAttentionFunction> {
  static Tensor forward(AutogradContext* context, const Tensor& queries, const Tensor& keys, const Tensor& values,
                        const c10::intrusive_ptr<LayoutHolder>& holder) {
    const Tensor grouped = by_head(queries, keys.size(1)), out = at::empty_like(grouped);
    for_each_head(
        *holder->layout, grouped, keys, values,
        [&](const PackedTree& tree, const Head& head, std::int64_t index) { attend(tree, head, out[index]); });
    context->save_for_backward({grouped, keys, values});
    context->saved_data["layout"] = at::IValue::make_capsule(holder);
    return by_row(out, queries.size(1) / keys.size(1));
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    const auto saved = context->get_saved_variables();
    const Tensor &grouped = saved[0], &keys = saved[1], &values = saved[2];
    const auto holder = c10::static_intrusive_pointer_cast<LayoutHolder>(context->saved_data["layout"].toCapsule());
    const Tensor answers = by_head(gradients[0], keys.size(1));
    const HeadGradients all{at::empty_like(grouped), at::zeros_like(keys), at::zeros_like(values)};
    for_each_head(*holder->layout, grouped, keys, values,
                  [&](const PackedTree& tree, const Head& head, std::int64_t index) {
                    attend_back(tree, head, answers[index],
                                {all.queries[index], all.keys.select(1, index), all.values.select(1, index)});
                  });
    return {by_row(all.queries, gradients[0].size(1) / keys.size(1)), all.keys, all.values, Tensor()};
  }
};

// The visibility between places of a tree's padded row: [longest, longest]; a place without a row sees itself.
void fill_visible(const PackedTree& tree, const std::vector<std::int64_t>& places,
                  at::TensorAccessor<bool, 2> visible) {
  RowStack stack;
  for (std::int64_t place = 0; place < visible.size(0); ++place) visible[place][place] = true;
  for (const PackedSegment& segment : tree) {
    stack.push(segment);
    for (std::int64_t i = 0; i < segment.length; ++i)
      for (std::int64_t seen = 0; seen <= segment.prefix + i; ++seen)
        visible[places[static_cast<std::size_t>(segment.begin + i)]]
               [places[static_cast<std::size_t>(stack.rows()[static_cast<std::size_t>(seen)])]] = true;
  }
}

}  // namespace

void check_layout(const PackedLayout& layout) {
  std::vector<bool> taken(static_cast<std::size_t>(layout.rows));
  for (const PackedTree& tree : layout.trees) {
    std::int64_t depth = 0;
    for (const auto& [begin, length, prefix] : tree) {
      if (prefix < 0 || prefix > depth)
        throw Error("packed rows: a prefix of {} on a stack of {} rows.", prefix, depth);
      for (std::int64_t row = begin; row < begin + length; ++row) {
        if (row < 0 || row >= layout.rows || taken[static_cast<std::size_t>(row)])
          throw Error("packed rows: row {} of {} is in no range or in two segments.", row, layout.rows);
        taken[static_cast<std::size_t>(row)] = true;
      }
      depth = prefix + length;
    }
  }
  if (const auto missing = std::find(taken.begin(), taken.end(), false); missing != taken.end())
    throw Error("packed rows: row {} is in no segment.", missing - taken.begin());
}

PackedAttention::PackedAttention(std::shared_ptr<const PackedLayout> layout, const at::TensorOptions& options)
    : layout_(std::move(layout)) {
  check_layout(*layout_);
  if (is_plain(options)) return;
  const auto trees = static_cast<std::int64_t>(layout_->trees.size());
  std::int64_t longest = 0;
  for (const PackedTree& tree : layout_->trees) {
    std::int64_t length = 0;
    for (const PackedSegment& segment : tree) length += segment.length;
    longest = std::max(longest, length);
  }
  padded_rows_ = at::zeros({trees, longest}, at::kLong);
  places_ = at::zeros({layout_->rows}, at::kLong);
  visible_ = at::zeros({trees, 1, longest, longest}, at::kBool);
  for (std::int64_t index = 0; index < trees; ++index) {
    const PackedTree& tree = layout_->trees[static_cast<std::size_t>(index)];
    std::vector<std::int64_t> places(static_cast<std::size_t>(layout_->rows));  // inside the tree
    std::int64_t place = 0;
    for (const PackedSegment& segment : tree)
      for (std::int64_t row = segment.begin; row < segment.begin + segment.length; ++row, ++place) {
        padded_rows_.accessor<std::int64_t, 2>()[index][place] = row;
        places_.accessor<std::int64_t, 1>()[row] = index * longest + place;
        places[static_cast<std::size_t>(row)] = place;
      }
    fill_visible(tree, places, visible_.accessor<bool, 4>()[index][0]);
  }
  for (Tensor* tensor : {&padded_rows_, &places_, &visible_}) *tensor = tensor->to(options.device());
}

Tensor PackedAttention::operator()(const Tensor& queries, const Tensor& keys, const Tensor& values) const {
  if (visible_.defined()) return masked(queries, keys, values);
  return PackedAttentionFunction::apply(queries, keys, values, c10::make_intrusive<LayoutHolder>(layout_)).flatten(1);
}

Tensor PackedAttention::masked(const Tensor& queries, const Tensor& keys, const Tensor& values) const {
  const std::int64_t trees = padded_rows_.size(0), longest = padded_rows_.size(1);
  const auto padded = [&](const Tensor& x) {
    return x.index_select(0, padded_rows_.flatten()).view({trees, longest, x.size(1), x.size(2)}).transpose(1, 2);
  };
  const Tensor out = at::scaled_dot_product_attention(padded(queries), padded(keys), padded(values), visible_, 0.0,
                                                      /*is_causal=*/false, std::nullopt, /*enable_gqa=*/true);
  return out.transpose(1, 2).reshape({trees * longest, -1}).index_select(0, places_);
}

}  // namespace agon::agents
