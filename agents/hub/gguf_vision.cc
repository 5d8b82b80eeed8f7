#include "agents/hub/gguf_vision.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string_view>
#include <utility>

#include "agents/hub/gguf_key_reader.h"
#include "core/error.h"
#include "core/json_parse.h"
#include "core/text.h"

namespace agon::agents {
namespace {

namespace fs = std::filesystem;

constexpr int kFrames = 2;           // that a patch of the Qwen-VL towers spans
constexpr int kTokensPerSecond = 2;  // of the hub's Qwen2.5-VL, where the file has no key of ours

// Of the three colours.
Json colours(const GgufKeyReader& keys, const char* key) {
  const Json& values = keys.list(key);
  if (values.size() != 3 || !std::all_of(values.begin(), values.end(), [](const Json& one) { return one.is_number(); }))
    keys.fail(key, shown_text(to_text(values)) + " is not three numbers");
  return values;
}

// Every `pattern`-th block sees the whole picture, the others a window; 0: all do.
Json whole_blocks(std::int64_t blocks, std::int64_t pattern) {
  Json indexes = Json::array();
  for (std::int64_t block = 0; block < blocks; ++block)
    if (pattern == 0 || (block + 1) % pattern == 0) indexes.push_back(block);
  return indexes;
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kBlockNames = {{{"ln1", "norm1"},
                                                                                       {"ln2", "norm2"},
                                                                                       {"attn_qkv", "attn.qkv"},
                                                                                       {"attn_out", "attn.proj"},
                                                                                       {"ffn_gate", "mlp.gate_proj"},
                                                                                       {"ffn_up", "mlp.up_proj"},
                                                                                       {"ffn_down", "mlp.down_proj"}}};

// "" for a tensor that is put together with others.
std::string hub_name_of(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  const std::string stem = name.substr(0, dot), kind = dot == std::string::npos ? "" : name.substr(dot);
  if (stem == "v.post_ln") return "visual.merger.ln_q" + kind;
  if (stem.starts_with("mm.")) return "visual.merger.mlp." + name.substr(3);
  if (!stem.starts_with("v.blk.")) return stem.starts_with("v.patch_embd") ? "" : name;
  const std::size_t end = stem.find('.', 6);
  const std::string_view part = std::string_view(stem).substr(std::min(end, stem.size() - 1) + 1);
  if (part == "attn_q" || part == "attn_k" || part == "attn_v") return "";
  const auto known =
      std::find_if(kBlockNames.begin(), kBlockNames.end(), [&](const auto& one) { return one.first == part; });
  if (known == kBlockNames.end()) return name;
  return fmt::format("visual.blocks.{}.{}{}", stem.substr(6, end - 6), known->second, kind);
}

class Assembly {
 public:
  Assembly(const GgufFile& tower, const std::string& source) : tensors_(tower.tensors()), source_(source) {}

  GgufVisionTensors run(std::int64_t blocks) {
    for (const auto& [name, view] : tensors_)
      if (const std::string hub = hub_name_of(name); !hub.empty()) result_.by_name.emplace(hub, view);
    if (tensors_.contains("v.patch_embd.weight")) join_frames();
    for (std::int64_t block = 0; block < blocks; ++block)
      for (const char* kind : {"weight", "bias"})
        if (tensors_.contains(fmt::format("v.blk.{}.attn_q.{}", block, kind))) join_attention(block, kind);
    return std::move(result_);
  }

 private:
  const TensorView& at(const std::string& name) const {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) throw Error("{}: the tensor {} is missing. Is the download complete?", source_, name);
    return found->second;
  }
  std::uint8_t* add(const std::string& name, TensorView view, std::size_t size) {
    const auto bytes = std::make_shared<std::vector<std::uint8_t>>(size);
    view.bytes = *bytes;
    result_.by_name.emplace(name, std::move(view));
    result_.owned.push_back(bytes);
    return bytes->data();
  }
  void require_alike(const TensorView& one, const TensorView& other, const std::string& name) const {
    if (one.dtype != other.dtype || one.shape != other.shape)
      throw Error("{}: the tensor {} differs in type or shape from those that belong to it.", source_, name);
  }

  // [out, colours, size, size] of each frame -> [out, colours, frames, size, size].
  void join_frames() {
    const std::string second_name = "v.patch_embd.weight.1";
    const TensorView &first = at("v.patch_embd.weight"), &second = at(second_name);
    require_alike(first, second, second_name);
    if (first.shape.size() != 4) throw Error("{}: v.patch_embd.weight has {} dimensions.", source_, first.shape.size());
    TensorView joined{first.dtype, first.shape, {}};
    joined.shape.insert(joined.shape.begin() + 2, kFrames);
    const auto planes = static_cast<std::size_t>(first.shape[0] * first.shape[1]);
    const std::size_t size = first.bytes.size() / planes;
    std::uint8_t* to = add("visual.patch_embed.proj.weight", joined, kFrames * first.bytes.size());
    for (std::size_t plane = 0; plane < planes; ++plane)
      for (const TensorView* frame : {&first, &second}) {
        std::memcpy(to, frame->bytes.data() + plane * size, size);
        to += size;
      }
  }

  void join_attention(std::int64_t block, const char* kind) {
    const auto name = [&](char part) { return fmt::format("v.blk.{}.attn_{}.{}", block, part, kind); };
    const TensorView& query = at(name('q'));
    TensorView joined{query.dtype, query.shape, {}};
    if (!joined.shape.empty()) joined.shape.front() *= 3;
    std::uint8_t* to = add(fmt::format("visual.blocks.{}.attn.qkv.{}", block, kind), joined, 3 * query.bytes.size());
    for (const char part : {'q', 'k', 'v'}) {
      require_alike(query, at(name(part)), name(part));
      to = std::copy_n(at(name(part)).bytes.data(), query.bytes.size(), to);
    }
  }

  const std::map<std::string, TensorView>& tensors_;
  const std::string& source_;
  GgufVisionTensors result_;
};

}  // namespace

bool is_mmproj(const fs::path& file) { return to_lower(file.filename().string()).find("mmproj") != std::string::npos; }

fs::path mmproj_of(const fs::path& gguf) { return gguf.parent_path() / ("mmproj-" + gguf.filename().string()); }

std::optional<fs::path> find_mmproj(const fs::path& gguf) {
  std::error_code code;
  if (fs::exists(mmproj_of(gguf), code)) return mmproj_of(gguf);
  std::optional<fs::path> found;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(gguf.has_parent_path() ? gguf.parent_path() : ".", code)) {
    if (entry.path().extension() != ".gguf" || !is_mmproj(entry.path())) continue;
    if (found)
      throw Error("{}: several mmproj files, {} and {}. Keep the one that belongs to the model.", gguf.string(),
                  found->filename().string(), entry.path().filename().string());
    found = entry.path();
  }
  return found;
}

std::optional<GgufVision> open_gguf_vision(const fs::path& gguf) {
  const auto file = find_mmproj(gguf);
  return file ? std::optional(GgufVision{GgufFile::open(*file), file->string()}) : std::nullopt;
}

std::string gguf_vision_model_type(const GgufFile& tower, const std::string& source) {
  const GgufKeyReader keys(tower, source);
  const std::string type = keys.text("clip.projector_type");
  if (type == "qwen2.5vl_merger") return "qwen2_5_vl";
  keys.fail("clip.projector_type", shown_text(type) + " is not supported, only qwen2.5vl_merger");
}

Json gguf_vision_config(const GgufFile& tower, const std::string& source) {
  const GgufKeyReader keys(tower, source);
  if (keys.at("clip.use_silu") != true) keys.fail("clip.use_silu", "not true");
  const std::int64_t blocks = keys.number("clip.vision.block_count");
  return {{"depth", blocks},
          {"hidden_act", "silu"},
          {"hidden_size", keys.number("clip.vision.embedding_length")},
          {"intermediate_size", keys.number("clip.vision.feed_forward_length")},
          {"num_heads", keys.number("clip.vision.attention.head_count")},
          {"out_hidden_size", keys.number("clip.vision.projection_dim")},
          {"patch_size", keys.number("clip.vision.patch_size")},
          {"temporal_patch_size", kFrames},
          {"spatial_merge_size", keys.number_or("clip.vision.spatial_merge_size", 2)},
          {"window_size", keys.number_or("clip.vision.window_size", 112)},
          {"tokens_per_second", keys.number_or("clip.vision.tokens_per_second", kTokensPerSecond)},
          {"fullatt_block_indexes", whole_blocks(blocks, keys.number("clip.vision.n_wa_pattern", 0))}};
}

Json gguf_image_processor(const GgufFile& tower, const std::string& source) {
  const GgufKeyReader keys(tower, source);
  return {{"image_mean", colours(keys, "clip.vision.image_mean")},
          {"image_std", colours(keys, "clip.vision.image_std")},
          {"patch_size", keys.number("clip.vision.patch_size")},
          {"temporal_patch_size", kFrames},
          {"merge_size", keys.number_or("clip.vision.spatial_merge_size", 2)}};
}

GgufVisionTensors gguf_vision_tensors(const GgufFile& tower, const std::string& source) {
  return Assembly(tower, source).run(GgufKeyReader(tower, source).number("clip.vision.block_count"));
}

namespace {

// Calls `put` with each run of the values that belongs to a part.
using Runs = std::function<void(std::span<const float> values, const std::function<void(std::span<const float>)>& put)>;

GgufTensor part_of(std::string name, const CheckpointTensor& tensor, std::vector<std::int64_t> shape,
                   std::string_view type, Runs runs) {
  const auto width = static_cast<std::size_t>(shape.back());
  const std::string_view own = shape.size() == 2 ? type : "F32";
  return {std::move(name), std::move(shape), own,
          [&tensor, width, runs = std::move(runs)](const std::function<void(const float*)>& put) {
            const std::vector<float> values = values_of(tensor);
            runs(values, [&](std::span<const float> run) {
              for (std::size_t at = 0; at < run.size(); at += width) put(run.data() + at);
            });
          }};
}

std::vector<GgufTensor> frames_of(const CheckpointTensor& tensor) {
  const std::vector<std::int64_t>& shape = tensor.view.shape;  // [out, colours, frames, size, size]
  const std::size_t plane = static_cast<std::size_t>(shape[3] * shape[4]);
  std::vector<GgufTensor> parts;
  for (std::size_t frame = 0; frame < kFrames; ++frame)
    parts.push_back(part_of(frame == 0 ? "v.patch_embd.weight" : "v.patch_embd.weight.1", tensor,
                            {shape[0], shape[1], shape[3], shape[4]}, "F32", [=](auto values, const auto& put) {
                              for (std::size_t at = frame * plane; at < values.size(); at += kFrames * plane)
                                put(values.subspan(at, plane));
                            }));
  return parts;
}

std::vector<GgufTensor> attention_parts(std::string_view block, std::string_view kind, const CheckpointTensor& tensor,
                                        std::string_view type) {
  std::vector<std::int64_t> shape = tensor.view.shape;
  shape.front() /= 3;
  std::vector<GgufTensor> parts;
  for (std::size_t i = 0; i < 3; ++i)
    parts.push_back(part_of(
        fmt::format("v.blk.{}.attn_{}{}", block, "qkv"[i], kind), tensor, shape, type,
        [=](auto values, const auto& put) { put(values.subspan(i * (values.size() / 3), values.size() / 3)); }));
  return parts;
}

}  // namespace

std::vector<GgufKey> gguf_vision_keys(const ModelConfig& config, const ImageProcessorConfig& images) {
  const VisionConfig& vision = *config.vision;
  if (vision.tower != &kQwen25Tower)
    throw Error("GGUF: the vision tower of {} is not written, only that of qwen2_5_vl. Keep this model in its folder.",
                config.model_type);
  const auto number = [](int value) { return static_cast<std::uint32_t>(value); };
  const auto colours = [](const auto& values) { return std::vector<float>(values.begin(), values.end()); };
  const bool all_whole = std::ssize(vision.fullatt_block_indexes) == vision.depth;
  constexpr std::uint32_t kAnySide = 560;  // llama.cpp wants one, and takes pictures of any size
  std::vector<GgufKey> keys{
      {"general.architecture", std::string("clip")},
      {"general.type", std::string("mmproj")},
      {"clip.has_vision_encoder", true},
      {"clip.projector_type", std::string("qwen2.5vl_merger")},
      {"clip.use_silu", true},
      {"clip.vision.image_size", kAnySide},
      {"clip.vision.patch_size", number(vision.patch_size)},
      {"clip.vision.embedding_length", number(vision.hidden_size)},
      {"clip.vision.feed_forward_length", number(vision.intermediate_size)},
      {"clip.vision.block_count", number(vision.depth)},
      {"clip.vision.attention.head_count", number(vision.num_heads)},
      {"clip.vision.attention.layer_norm_epsilon", 1e-6f},
      {"clip.vision.projection_dim", number(vision.out_hidden_size)},
      {"clip.vision.spatial_merge_size", number(vision.spatial_merge_size)},
      {"clip.vision.window_size", number(vision.window_size)},
      {"clip.vision.n_wa_pattern", all_whole ? 0u : number(vision.fullatt_block_indexes.at(0) + 1)},
      {"clip.vision.image_mean", colours(images.mean)},
      {"clip.vision.image_std", colours(images.std)}};
  if (vision.tokens_per_second != kTokensPerSecond)
    keys.push_back({"clip.vision.tokens_per_second", number(vision.tokens_per_second)});
  return keys;
}

std::vector<GgufTensor> gguf_vision_parts(const std::string& hub_name, const CheckpointTensor& tensor,
                                          std::string_view type) {
  constexpr std::string_view kBlocks = "visual.blocks.", kMerger = "visual.merger.";
  const std::size_t dot = std::min(hub_name.rfind('.'), hub_name.size());
  const std::string stem = hub_name.substr(0, dot), kind = hub_name.substr(dot);
  const auto whole = [&](std::string name) {
    return std::vector{
        part_of(name + kind, tensor, tensor.view.shape, type, [](auto values, const auto& put) { put(values); })};
  };
  if (stem == "visual.patch_embed.proj" && tensor.view.shape.size() == 5) return frames_of(tensor);
  if (stem == "visual.merger.ln_q") return whole("v.post_ln");
  if (stem.starts_with("visual.merger.mlp.")) return whole("mm." + stem.substr(kMerger.size() + 4));
  if (stem.starts_with(kBlocks)) {
    const std::size_t end = std::min(stem.find('.', kBlocks.size()), stem.size() - 1);
    const std::string_view block = std::string_view(stem).substr(kBlocks.size(), end - kBlocks.size()),
                           part = std::string_view(stem).substr(end + 1);
    if (part == "attn.qkv") return attention_parts(block, kind, tensor, type);
    for (const auto& [gguf, hub] : kBlockNames)
      if (hub == part) return whole(fmt::format("v.blk.{}.{}", block, gguf));
  }
  throw Error("GGUF: there is no name for the tensor {}.", hub_name);
}

}  // namespace agon::agents
