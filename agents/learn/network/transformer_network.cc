#include "agents/learn/network/transformer_network.h"

#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/add.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <mutex>
#include <optional>

#include "agents/learn/network/fused_ops.h"
#include "agents/learn/network/packed_batch.h"
#include "agents/learn/network/vision_plan.h"
#include "core/error.h"

namespace agon::agents {
namespace {

using at::Tensor;

constexpr double kVisionEpsilon = 1e-6;  // fixed in the architecture

using Parameters = std::vector<std::pair<std::string, Tensor>>;
using Linears = std::map<std::string, AdaptableLinear>;

using Blank = std::optional<at::TensorOptions>;  // options of uninitialised weights; nothing: drawn, in fp32 on the CPU

// Records parameters, in the order of their creation, and the linears under a dotted path.
class Scope {
 public:
  Scope(Parameters& parameters, Linears& linears, const Blank& blank, std::string path = {})
      : parameters_(&parameters), linears_(&linears), blank_(blank), path_(std::move(path)) {}
  Scope child(const std::string& name) const {
    return Scope(*parameters_, *linears_, blank_, path_.empty() ? name : path_ + '.' + name);
  }
  Scope child(int index) const { return child(std::to_string(index)); }
  Tensor normal(at::IntArrayRef sizes) const {
    return parameter("weight", sizes, [&] { return at::zeros(sizes).normal_(0, 0.02); });
  }
  Tensor zero_bias(std::int64_t size) const {
    return parameter("bias", {size}, [&] { return at::zeros({size}); });
  }
  Tensor ones(std::int64_t size) const {
    return parameter("weight", {size}, [&] { return at::ones({size}); });
  }
  const AdaptableLinear& linear(std::int64_t in, std::int64_t out) const {
    return linears_->emplace(path_, AdaptableLinear{normal({out, in}), std::make_shared<LowRank>()}).first->second;
  }

 private:
  template <typename Draw>
  Tensor parameter(const char* name, at::IntArrayRef sizes, const Draw& draw) const {
    const Tensor values = blank_ ? at::empty(sizes, *blank_) : draw().set_requires_grad(true);
    return parameters_->emplace_back(path_ + '.' + name, values).second;
  }

  Parameters* parameters_;
  Linears* linears_;
  Blank blank_;
  std::string path_;
};

struct Linear {
  Linear() = default;
  Linear(const Scope& scope, std::int64_t in, std::int64_t out, bool with_bias) : matrix(scope.linear(in, out)) {
    if (with_bias) bias = scope.zero_bias(out);
  }
  Tensor operator()(const Tensor& x) const {
    const Tensor y = at::linear(x, matrix.weight, bias);
    const LowRank& added = *matrix.low_rank;
    return added.b.defined() ? at::add(y, at::linear(at::linear(x, added.a), added.b), added.scale) : y;
  }
  AdaptableLinear matrix;
  Tensor bias;
};

struct RmsNorm {
  RmsNorm(const Scope& scope, std::int64_t size, double smallest) : weight(scope.ones(size)), epsilon(smallest) {}
  Tensor operator()(const Tensor& x) const { return rms_norm(x, weight, epsilon); }
  Tensor weight;
  double epsilon;
};

// A LayerNorm, with its bias, or an RMS norm.
struct VisionNorm {
  VisionNorm(const Scope& scope, std::int64_t size, bool is_centred) : weight(scope.ones(size)) {
    if (is_centred) bias = scope.zero_bias(size);
  }
  Tensor operator()(const Tensor& x) const {
    if (!bias.defined()) return rms_norm(x, weight, kVisionEpsilon);
    return at::layer_norm(x, weight.sizes(), weight, bias, kVisionEpsilon);
  }
  Tensor weight, bias;
};

struct SwiGlu {
  SwiGlu(const Scope& scope, std::int64_t hidden, std::int64_t inner, bool bias)
      : gate(scope.child("gate_proj"), hidden, inner, bias),
        up(scope.child("up_proj"), hidden, inner, bias),
        down(scope.child("down_proj"), inner, hidden, bias) {}
  Tensor operator()(const Tensor& x) const { return down(silu_mul(gate(x), up(x))); }
  Linear gate, up, down;
};

struct VisionMlp {
  VisionMlp(const Scope& scope, const VisionConfig& config) : kind(config.tower->mlp) {
    const std::int64_t hidden = config.hidden_size, inner = config.intermediate_size;
    if (kind == Mlp::swiglu) {
      gated.emplace(scope, hidden, inner, true);
      return;
    }
    in = Linear(scope.child(std::string(config.tower->mlp_in)), hidden, inner, true);
    out = Linear(scope.child(std::string(config.tower->mlp_out)), inner, hidden, true);
  }
  Tensor operator()(const Tensor& x) const {
    if (gated) return (*gated)(x);
    const Tensor y = in(x);
    return out(kind == Mlp::quick_gelu ? y * at::sigmoid(1.702 * y) : at::gelu(y, "tanh"));
  }
  Mlp kind;
  std::optional<SwiGlu> gated;
  Linear in, out;
};

Tensor rotate(const Tensor& x, const RotaryTable& table) { return rotate_pairs(x, table.cos, table.sin); }

struct VisionBlock {
  VisionBlock(const Scope& scope, const VisionConfig& config)
      : heads(config.num_heads),
        norm1(scope.child("norm1"), config.hidden_size, config.tower->is_centred),
        norm2(scope.child("norm2"), config.hidden_size, config.tower->is_centred),
        qkv(scope.child("attn").child("qkv"), config.hidden_size, 3 * config.hidden_size, true),
        proj(scope.child("attn").child("proj"), config.hidden_size, config.hidden_size, true),
        mlp(scope.child("mlp"), config) {}

  // x [P, hidden], rows in the layout's order.
  Tensor operator()(const Tensor& x, const AttentionLayout& layout) const {
    const Tensor attended = x + proj(attend(norm1(x), layout));
    return attended + mlp(norm2(attended));
  }

  Tensor attend(const Tensor& x, const AttentionLayout& layout) const {
    const auto parts = qkv(x).view({x.size(0), 3, heads, -1}).unbind(1);
    const Tensor q = rotate(parts[0], layout.rotary), k = rotate(parts[1], layout.rotary);
    std::vector<Tensor> results;
    std::int64_t begin = 0;
    for (const AttentionLayout::Run& run : layout.runs) {  // all segments of one length are one batch
      const auto batch = [&](const Tensor& rows) {
        return rows.narrow(0, begin, run.count * run.length).view({run.count, run.length, heads, -1}).transpose(1, 2);
      };
      const Tensor out = at::scaled_dot_product_attention(batch(q), batch(k), batch(parts[2]));
      results.push_back(out.transpose(1, 2).reshape({run.count * run.length, -1}));
      begin += run.count * run.length;
    }
    return results.size() == 1 ? results[0] : at::cat(results);
  }

  std::int64_t heads;
  VisionNorm norm1, norm2;
  Linear qkv, proj;
  VisionMlp mlp;
};

std::int64_t merged_size(const VisionConfig& config) {
  return std::int64_t{config.hidden_size} * config.spatial_merge_size * config.spatial_merge_size;
}

// x [P, hidden] in natural order -> [M, out_hidden_size]. The norm is over a patch, or over the merged ones.
struct Merger {
  Merger(const Scope& scope, const VisionConfig& config, std::int64_t norm_size)
      : norm(scope.child(std::string(config.tower->merger_norm)), norm_size, config.tower->is_centred),
        in(scope.child(std::string(config.tower->merger_in)), merged_size(config), merged_size(config), true),
        out(scope.child(std::string(config.tower->merger_out)), merged_size(config), config.out_hidden_size, true) {}
  Tensor operator()(const Tensor& x) const {
    const Tensor normal = norm(x.view({-1, norm.weight.size(0)}));
    return out(at::gelu(in(normal.view({-1, in.matrix.weight.size(1)}))));
  }
  VisionNorm norm;
  Linear in, out;
};

struct VisionTower {
  VisionTower(const Scope& scope, const VisionConfig& vision)
      : config(vision),
        patch_embed(scope.child("patch_embed")
                        .child("proj")
                        .normal({config.hidden_size, config.in_channels, config.temporal_patch_size, config.patch_size,
                                 config.patch_size})),
        merger(scope.child("merger"), config, config.hidden_size) {
    if (config.tower->learns_places) {
      patch_bias = scope.child("patch_embed").child("proj").zero_bias(config.hidden_size);
      places = scope.child("pos_embed").normal({config.position_embeddings, config.hidden_size});
    }
    for (int i = 0; i < config.depth; ++i) blocks.emplace_back(scope.child("blocks").child(i), config);
    for (int i = 0; i < static_cast<int>(config.deepstack_blocks.size()); ++i)
      deepstack.emplace_back(scope.child("deepstack_merger_list").child(i), config, merged_size(config));
  }

  Tensor operator()(const Tensor& patches, const VisionPlan& plan) const {
    const at::ScalarType type = patch_embed.scalar_type();
    Tensor x = at::linear(patches.to(type), patch_embed.flatten(1), patch_bias);
    if (places.defined()) {
      const Tensor mixed = (at::embedding(places, plan.places) * plan.place_weights.unsqueeze(2)).sum(1);
      x = x + mixed.to(type);
    }
    std::vector<Tensor> parts(1);
    const AttentionLayout* layout = nullptr;  // natural order
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const AttentionLayout& next = plan.full_attention[i] ? plan.full : plan.window;
      x = plan.reorder(x, layout, &next);
      x = blocks[i](x, next);
      layout = &next;
      const std::size_t level = parts.size() - 1;
      if (level < deepstack.size() && config.deepstack_blocks[level] == static_cast<int>(i))
        parts.push_back(deepstack[level](plan.reorder(x, layout, nullptr)));
    }
    parts[0] = merger(plan.reorder(x, layout, nullptr));
    return parts.size() == 1 ? parts[0] : at::cat(parts, 1);
  }

  VisionConfig config;
  Tensor patch_embed, patch_bias, places;  // the last two may be undefined
  std::vector<VisionBlock> blocks;
  Merger merger;
  std::vector<Merger> deepstack;
};

// Right-padded rows need no mask: a real position never looks ahead at the padding.
Tensor attend_padded(const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t batch) {
  const std::int64_t rows = q.size(0), groups = q.size(1) / k.size(1);
  const auto by_head = [&](const Tensor& y) { return y.view({batch, rows / batch, y.size(1), -1}).transpose(1, 2); };
  const auto repeat = [&](const Tensor& y) { return groups == 1 ? y : y.repeat_interleave(groups, 1); };
  const Tensor out = at::scaled_dot_product_attention(by_head(q), repeat(by_head(k)), repeat(by_head(v)), {}, 0.0,
                                                      /*is_causal=*/true);
  return out.transpose(1, 2).reshape({rows, -1});
}

struct DecoderLayer {
  DecoderLayer(const Scope& scope, const TextConfig& config)
      : heads(config.num_attention_heads),
        key_heads(config.num_key_value_heads),
        head_dim(config.head_dim()),
        input_layernorm(scope.child("input_layernorm"), config.hidden_size, config.rms_norm_eps),
        post_attention_layernorm(scope.child("post_attention_layernorm"), config.hidden_size, config.rms_norm_eps),
        q_proj(scope.child("self_attn").child("q_proj"), config.hidden_size, heads * head_dim, config.qkv_bias),
        k_proj(scope.child("self_attn").child("k_proj"), config.hidden_size, key_heads * head_dim, config.qkv_bias),
        v_proj(scope.child("self_attn").child("v_proj"), config.hidden_size, key_heads * head_dim, config.qkv_bias),
        o_proj(scope.child("self_attn").child("o_proj"), heads * head_dim, config.hidden_size,
               config.attention_out_bias),
        mlp(scope.child("mlp"), config.hidden_size, config.intermediate_size, config.mlp_bias) {
    if (!config.normalises_heads) return;
    q_norm.emplace(scope.child("self_attn").child("q_norm"), head_dim, config.rms_norm_eps);
    k_norm.emplace(scope.child("self_attn").child("k_norm"), head_dim, config.rms_norm_eps);
  }

  // x [rows, hidden].
  Tensor operator()(std::size_t layer, const Tensor& x, const RotaryTable& table,
                    const LayerAttention& attention) const {
    const Tensor normal = input_layernorm(x);
    const auto split = [&](const Tensor& y) { return y.view({x.size(0), y.size(1) / head_dim, head_dim}); };
    const auto prepared = [&](const Tensor& y, const std::optional<RmsNorm>& norm) {
      return rotate(norm ? (*norm)(split(y)) : split(y), table);
    };
    const Tensor q = prepared(q_proj(normal), q_norm), k = prepared(k_proj(normal), k_norm);
    const Tensor attended = x + o_proj(attention(layer, q, k, split(v_proj(normal))));
    return attended + mlp(post_attention_layernorm(attended));
  }

  std::int64_t heads, key_heads, head_dim;
  RmsNorm input_layernorm, post_attention_layernorm;
  Linear q_proj, k_proj, v_proj, o_proj;
  std::optional<RmsNorm> q_norm, k_norm;
  SwiGlu mlp;
};

void check_images(const Tensor& patches, std::span<const ImageGrid> grids, const VisionConfig& config) {
  std::int64_t expected = 0;
  for (const ImageGrid& grid : grids) {
    if (grid.t < 1 || grid.h < 1 || grid.w < 1 || grid.h % config.spatial_merge_size ||
        grid.w % config.spatial_merge_size)
      throw Error("pictures: a grid of {} x {} x {} patches is not made of {} x {} merge blocks.", grid.t, grid.h,
                  grid.w, config.spatial_merge_size, config.spatial_merge_size);
    expected += grid.patches();
  }
  const std::int64_t width =
      std::int64_t{config.in_channels} * config.temporal_patch_size * config.patch_size * config.patch_size;
  if (patches.dim() != 2 || patches.size(0) != expected || patches.size(1) != width)
    throw Error("pictures: patches of shape {} instead of [{}, {}].", fmt::join(patches.sizes(), " x "), expected,
                width);
}

}  // namespace

struct TransformerNetwork::Parts {
  Parts(const ModelConfig& config, const Blank& blank)
      : root(parameters, linears, blank),
        vision(vision_of(root, config)),
        embed_tokens(
            root.child("model").child("embed_tokens").normal({config.text.vocab_size, config.text.hidden_size})),
        norm(root.child("model").child("norm"), config.text.hidden_size, config.text.rms_norm_eps),
        lm_head(embed_tokens) {
    for (int i = 0; i < config.text.num_hidden_layers; ++i)
      layers.emplace_back(root.child("model").child("layers").child(i), config.text);
    if (!config.text.tie_word_embeddings)
      lm_head = root.child("lm_head").normal({config.text.vocab_size, config.text.hidden_size});
  }

  static std::optional<VisionTower> vision_of(const Scope& root, const ModelConfig& config) {
    if (!config.vision) return std::nullopt;
    return VisionTower(root.child("visual"), *config.vision);
  }

  // Reuses the plan of the last call while the pictures keep their sizes, as in training.
  std::shared_ptr<const VisionPlan> plan_for(std::span<const ImageGrid> grids) {
    const std::lock_guard lock(plan_mutex);
    const at::Device device = embed_tokens.device();
    if (!plan || plan->full.rotary.cos.device() != device ||
        !std::equal(grids.begin(), grids.end(), plan->grids.begin(), plan->grids.end()))
      plan = std::make_shared<VisionPlan>(make_vision_plan(grids, vision->config, device));
    return plan;
  }

  // The same, where image embeddings fill the rows with an image token id, in order.
  Tensor decode_filled(const Tensor& ids, const Tensor& positions, const Tensor& image_embeddings,
                       const ModelConfig& config, const LayerAttention& attention) const {
    const Tensor slots = (ids == config.image_token_id).logical_or(ids == config.video_token_id).nonzero().flatten();
    return decode(ids, positions, slots, image_embeddings, config, attention);
  }

  // ids [rows] -> [rows, hidden] after all layers and the norm. slots: rows of image tokens; undefined: none.
  Tensor decode(const Tensor& ids, const Tensor& positions, const Tensor& slots, const Tensor& image_embeddings,
                const ModelConfig& config, const LayerAttention& attention) const {
    const RotaryTable table = text_rotary(positions, config.text);
    const std::int64_t filled = slots.defined() ? slots.size(0) : 0;
    const std::vector<Tensor> pictures = by_layer(image_embeddings, filled, config.text.hidden_size);
    Tensor x = at::embedding(embed_tokens, ids);
    if (!pictures.empty()) x = x.index_copy(0, slots, pictures[0].to(x.scalar_type()));
    for (std::size_t i = 0; i < layers.size(); ++i) {
      x = layers[i](i, x, table, attention);
      if (i + 1 < pictures.size()) x = x.index_add(0, slots, pictures[i + 1].to(x.scalar_type()));
    }
    return norm(x);
  }

  // The embeddings of the image tokens, then the vectors added to their states after each of the first layers.
  static std::vector<Tensor> by_layer(const Tensor& image_embeddings, std::int64_t tokens, std::int64_t hidden) {
    const std::int64_t given = image_embeddings.defined() ? image_embeddings.size(0) : 0;
    if (tokens != given) throw Error("model: {} image tokens in the ids, {} image embeddings.", tokens, given);
    return given ? image_embeddings.split(hidden, 1) : std::vector<Tensor>();
  }

  Parameters parameters;
  Linears linears;
  Scope root;
  std::optional<VisionTower> vision;
  Tensor embed_tokens;
  std::vector<DecoderLayer> layers;
  RmsNorm norm;
  Tensor lm_head;
  std::mutex plan_mutex;
  std::shared_ptr<const VisionPlan> plan;
};

TransformerNetwork::TransformerNetwork(const ModelConfig& config)
    : config_(config), parts_(std::make_unique<Parts>(config_, std::nullopt)) {}

TransformerNetwork::TransformerNetwork(const ModelConfig& config, const at::TensorOptions& blank)
    : config_(config), parts_(std::make_unique<Parts>(config_, blank)) {}

TransformerNetwork::~TransformerNetwork() = default;

Tensor TransformerNetwork::encode_images(const Tensor& patches, std::span<const ImageGrid> grids) {
  if (!config_.vision) throw Error("pictures: this model ({}) reads only text.", config_.model_type);
  check_images(patches, grids, *config_.vision);
  return (*parts_->vision)(patches, *parts_->plan_for(grids));
}

Tensor TransformerNetwork::hidden_states(const Tensor& ids, const Tensor& positions, const Tensor& image_embeddings,
                                         std::span<const std::int64_t> lengths) {
  const std::int64_t batch = ids.size(0), length = ids.size(1), hidden = config_.text.hidden_size;
  if (positions.sizes() != at::IntArrayRef{3, batch, length} || static_cast<std::int64_t>(lengths.size()) != batch)
    throw Error("model: ids of {} x {} with positions of {} and {} lengths.", batch, length,
                fmt::join(positions.sizes(), " x "), lengths.size());
  const auto attention = [&](std::size_t, const Tensor& q, const Tensor& k, const Tensor& v) {
    return attend_padded(q, k, v, batch);
  };
  return parts_->decode_filled(ids.flatten(), positions, image_embeddings, config_, attention)
      .view({batch, length, hidden});
}

Tensor TransformerNetwork::packed_hidden_states(const PackedBatch& batch, const Tensor& image_embeddings) {
  const at::TensorOptions options = parts_->embed_tokens.options();
  const at::DeviceType device = options.device().type();
  const at::ScalarType type = at::autocast::is_autocast_enabled(device) ? at::autocast::get_autocast_dtype(device)
                                                                        : parts_->embed_tokens.scalar_type();
  const PackedAttention packed(batch.layout, options.dtype(type));
  const auto attention = [&](std::size_t, const Tensor& q, const Tensor& k, const Tensor& v) {
    return packed(q, k, v);
  };
  return parts_->decode_filled(batch.ids, batch.positions, image_embeddings, config_, attention);
}

Tensor TransformerNetwork::row_states(const Tensor& ids, const Tensor& positions, const Tensor& slots,
                                      const Tensor& image_embeddings, const LayerAttention& attention) {
  return parts_->decode(ids, positions, slots, image_embeddings, config_, attention);
}

at::Device TransformerNetwork::device() const { return parts_->lm_head.device(); }

const Tensor& TransformerNetwork::lm_head() const { return parts_->lm_head; }

const Parameters& TransformerNetwork::named_parameters() const { return parts_->parameters; }

std::vector<Tensor> TransformerNetwork::parameters() const {
  std::vector<Tensor> result;
  for (const auto& [name, parameter] : parts_->parameters) result.push_back(parameter);
  return result;
}

void TransformerNetwork::to(at::Device device) {
  const at::NoGradGuard no_grad;
  for (const Tensor& parameter : parameters()) parameter.set_data(parameter.to(device));
}

const std::map<std::string, AdaptableLinear>& TransformerNetwork::linears() const { return parts_->linears; }

std::int32_t TransformerNetwork::add_token(const Tensor& embedding) {
  const at::NoGradGuard no_grad;
  const auto append = [&](const Tensor& weight) {
    Tensor(weight).set_data(at::cat({weight, embedding.to(weight.options()).view({1, -1})}));
  };
  append(parts_->embed_tokens);
  if (!config_.text.tie_word_embeddings) append(parts_->lm_head);
  return config_.text.vocab_size++;
}

Tensor TransformerNetwork::logits(const Tensor& hidden) { return at::linear(hidden, parts_->lm_head); }

}  // namespace agon::agents
