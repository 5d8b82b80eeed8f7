#include "agents/learn/network/sentence_encoder.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>

#include "agents/hub/json_file.h"
#include "agents/hub/safetensors.h"
#include "agents/hub/tokenizer/word_pieces.h"
#include "core/error.h"

namespace agon::agents {
namespace {

namespace fs = std::filesystem;
using at::Tensor;

struct BertConfig {
  std::int64_t vocab_size, hidden_size, num_hidden_layers, num_attention_heads, intermediate_size;
  std::int64_t max_position_embeddings;
  double layer_norm_eps;
};

constexpr std::int64_t kMostOfSize = 1 << 24;  // limit of a size in a config; a larger one means a damaged file

BertConfig read_config(const fs::path& path) try {
  const Json json = read_json_file(path);
  if (json.value("model_type", "") != "bert" || json.value("hidden_act", "gelu") != "gelu" ||
      json.value("position_embedding_type", "absolute") != "absolute")
    throw Error(
        "{}: model_type {}, hidden_act {}, position_embedding_type {}: only bert with gelu and absolute positions can "
        "be read. all-MiniLM-L6-v2 is one.",
        path.string(), json.value("model_type", "none"), json.value("hidden_act", "gelu"),
        json.value("position_embedding_type", "absolute"));
  const auto size = [&](const char* key, std::int64_t low = 1) {
    return whole_number_or_throw(json.at(key), fmt::format("{}: {}", path.string(), key), low, kMostOfSize);
  };
  const BertConfig config{size("vocab_size"),
                          size("hidden_size"),
                          size("num_hidden_layers"),
                          size("num_attention_heads"),
                          size("intermediate_size"),
                          size("max_position_embeddings", 2),
                          json.value("layer_norm_eps", 1e-12)};
  if (config.hidden_size % config.num_attention_heads != 0)
    throw Error("{}: hidden_size {} is not a multiple of num_attention_heads {}.", path.string(), config.hidden_size,
                config.num_attention_heads);
  return config;
} catch (const Json::exception& error) {
  throw Error("{}: {}", path.string(), error.what());
}

// The tensors of a checkpoint by name, each requested with its required shape.
class Weights {
 public:
  explicit Weights(const fs::path& folder) : folder_(folder), files_(open_checkpoint_weights(folder)) {
    for (const auto& file : files_)
      for (const auto& [name, view] : file->tensors())
        views_.emplace(name.starts_with("bert.") ? name.substr(5) : name, view);
  }

  Tensor take(const std::string& name, std::vector<std::int64_t> shape) const {
    const auto found = views_.find(name);
    if (found == views_.end()) throw Error("{}: no tensor {}. Is the config of another model?", folder_.string(), name);
    const TensorView& view = found->second;
    if (view.shape != shape || view.dtype != "F32")
      throw Error("{}: tensor {} is {} [{}], the config asks for F32 [{}].", folder_.string(), name, view.dtype,
                  fmt::join(view.shape, ", "), fmt::join(shape, ", "));
    Tensor tensor = at::empty(shape, at::kFloat);
    std::memcpy(tensor.data_ptr(), view.bytes.data(), view.bytes.size());
    return tensor;
  }

 private:
  fs::path folder_;
  std::vector<std::shared_ptr<const SafetensorsFile>> files_;
  std::map<std::string, TensorView> views_;
};

struct EncoderLinear {
  EncoderLinear(const Weights& weights, const std::string& name, std::int64_t in, std::int64_t out)
      : weight(weights.take(name + ".weight", {out, in})), bias(weights.take(name + ".bias", {out})) {}
  Tensor operator()(const Tensor& x) const { return at::linear(x, weight, bias); }
  Tensor weight, bias;
};

struct Norm {
  Norm(const Weights& weights, const std::string& name, const BertConfig& config)
      : size(config.hidden_size),
        epsilon(config.layer_norm_eps),
        weight(weights.take(name + ".weight", {size})),
        bias(weights.take(name + ".bias", {size})) {}
  Tensor operator()(const Tensor& x) const { return at::layer_norm(x, {size}, weight, bias, epsilon); }
  std::int64_t size;
  double epsilon;
  Tensor weight, bias;
};

// One layer; x is [tokens, hidden_size].
struct Layer {
  Layer(const Weights& weights, const std::string& name, const BertConfig& config)
      : heads(config.num_attention_heads),
        query(weights, name + ".attention.self.query", config.hidden_size, config.hidden_size),
        key(weights, name + ".attention.self.key", config.hidden_size, config.hidden_size),
        value(weights, name + ".attention.self.value", config.hidden_size, config.hidden_size),
        attended(weights, name + ".attention.output.dense", config.hidden_size, config.hidden_size),
        attended_norm(weights, name + ".attention.output.LayerNorm", config),
        wide(weights, name + ".intermediate.dense", config.hidden_size, config.intermediate_size),
        narrow(weights, name + ".output.dense", config.intermediate_size, config.hidden_size),
        norm(weights, name + ".output.LayerNorm", config) {}

  Tensor operator()(const Tensor& x) const {
    const auto by_head = [&](const Tensor& rows) { return rows.view({1, x.size(0), heads, -1}).transpose(1, 2); };
    const Tensor mixed = at::scaled_dot_product_attention(by_head(query(x)), by_head(key(x)), by_head(value(x)));
    const Tensor after = attended_norm(x + attended(mixed.transpose(1, 2).reshape({x.size(0), -1})));
    return norm(after + narrow(at::gelu(wide(after))));
  }

  std::int64_t heads;
  EncoderLinear query, key, value, attended;
  Norm attended_norm;
  EncoderLinear wide, narrow;
  Norm norm;
};

std::size_t longest_sequence(const fs::path& folder, const BertConfig& config) {
  const fs::path path = folder / "sentence_bert_config.json";
  const Json json = fs::exists(path) ? read_json_file(path) : Json::object();
  if (!json.is_object()) throw Error("{}: not a JSON object.", path.string());
  const Json most = json.value("max_seq_length", Json(256));
  const auto whole =
      whole_number_or_throw(most, fmt::format("{}: max_seq_length", path.string()), std::int64_t{1}, kMostOfSize);
  return static_cast<std::size_t>(std::clamp<std::int64_t>(whole, 2, config.max_position_embeddings));
}

bool lowers_case(const fs::path& folder) {
  const fs::path path = folder / "tokenizer_config.json";
  if (!fs::exists(path)) return true;
  const Json json = read_json_file(path);
  const Json lower = json.is_object() ? json.value("do_lower_case", Json(true)) : Json();
  if (!lower.is_boolean()) throw Error("{}: do_lower_case is {}, not true or false.", path.string(), lower.dump());
  return lower == true;
}

class Bert final : public SentenceEncoder {
 public:
  explicit Bert(const fs::path& folder) : Bert(folder, read_config(folder / "config.json"), Weights(folder)) {}

  std::vector<float> embed(std::string_view text) const override {
    const at::NoGradGuard no_grad;
    const std::vector<std::int64_t> ids = pieces_.encode(text, most_);
    const auto count = static_cast<std::int64_t>(ids.size());
    Tensor x = at::embedding(words_, at::tensor(ids)) + positions_.narrow(0, 0, count) + types_[0];
    x = norm_(x);
    for (const Layer& layer : layers_) x = layer(x);
    const Tensor mean = x.mean(0);
    const Tensor unit = (mean / mean.norm()).contiguous();
    return {unit.data_ptr<float>(), unit.data_ptr<float>() + unit.numel()};
  }

 private:
  Bert(const fs::path& folder, const BertConfig& config, const Weights& weights)
      : pieces_(folder / "vocab.txt", lowers_case(folder)),
        most_(longest_sequence(folder, config)),
        words_(weights.take("embeddings.word_embeddings.weight", {config.vocab_size, config.hidden_size})),
        positions_(weights.take("embeddings.position_embeddings.weight",
                                {config.max_position_embeddings, config.hidden_size})),
        types_(weights.take("embeddings.token_type_embeddings.weight", {2, config.hidden_size})),
        norm_(weights, "embeddings.LayerNorm", config) {
    if (static_cast<std::int64_t>(pieces_.size()) > config.vocab_size)
      throw Error("{}: vocab.txt has {} pieces, config.json {}.", folder.string(), pieces_.size(), config.vocab_size);
    for (std::int64_t i = 0; i < config.num_hidden_layers; ++i)
      layers_.emplace_back(weights, fmt::format("encoder.layer.{}", i), config);
  }

  WordPieces pieces_;
  std::size_t most_;
  Tensor words_, positions_, types_;
  Norm norm_;
  std::vector<Layer> layers_;
};

class SentenceSimilarity final : public env::TextSimilarity {
 public:
  explicit SentenceSimilarity(const fs::path& folder)
      : encoder_(SentenceEncoder::load(folder)), name_("sentence encoder " + folder.filename().string()) {}
  double similarity(std::string_view a, std::string_view b) const override {
    const std::vector<float> left = encoder_->embed(a), right = encoder_->embed(b);
    return std::inner_product(left.begin(), left.end(), right.begin(), 0.0);
  }
  std::string name() const override { return name_; }

 private:
  std::unique_ptr<const SentenceEncoder> encoder_;
  std::string name_;
};

}  // namespace

std::unique_ptr<const SentenceEncoder> SentenceEncoder::load(const fs::path& folder) {
  if (!fs::is_directory(folder))
    throw Error("{}: no such folder. script/checkpoint minilm fetches all-MiniLM-L6-v2 into .deps/minilm.",
                folder.string());
  return std::make_unique<Bert>(folder);
}

std::shared_ptr<const env::TextSimilarity> make_sentence_similarity(const fs::path& folder) {
  return std::make_shared<SentenceSimilarity>(folder);
}

}  // namespace agon::agents
