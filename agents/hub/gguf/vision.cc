#include "agents/hub/gguf/vision.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "agents/hub/gguf/key_reader.h"
#include "core/error.h"
#include "core/json_parse.h"
#include "core/text.h"

namespace agon::agents {
namespace {

namespace fs = std::filesystem;

constexpr int kFrames = 2;           // frames per patch in the Qwen-VL towers
constexpr int kTokensPerSecond = 2;  // of the hub's Qwen2.5-VL; used if the file lacks agon's own key

// How llama.cpp stores a kind of tower.
struct TowerForm {
  const Tower& tower;
  std::string_view model_type;    // of config.json
  std::string_view projector;     // clip.projector_type
  const char* activation;         // the key that is set to true; null: none
  bool splits_attention;          // into queries, keys and values
  std::int64_t least_pixels = 0;  // of a picture, if the file lacks it; 0: the image processor's default
  std::int64_t most_pixels = 0;
};
const std::array<TowerForm, 3> kForms = {
    {{kQwen2Tower, "qwen2_vl", "qwen2vl_merger", nullptr, true},
     {kQwen25Tower, "qwen2_5_vl", "qwen2.5vl_merger", "clip.use_silu", true},
     {kQwen3Tower, "qwen3_vl", "qwen3vl_merger", "clip.use_gelu", false, 1 << 16, 1 << 24}}};

const TowerForm& form_of(const Tower& tower) {
  return *std::find_if(kForms.begin(), kForms.end(), [&](const TowerForm& one) { return &one.tower == &tower; });
}

const TowerForm& form_in(const GgufKeyReader& keys) {
  const std::string projector = keys.text("clip.projector_type");
  const auto found =
      std::find_if(kForms.begin(), kForms.end(), [&](const TowerForm& one) { return one.projector == projector; });
  if (found != kForms.end()) return *found;
  std::vector<std::string_view> known;
  for (const TowerForm& one : kForms) known.push_back(one.projector);
  keys.fail("clip.projector_type",
            fmt::format("{} is not supported, only {}", shown_text(projector), fmt::join(known, ", ")));
}

// A list of three numbers, one for each colour.
Json colours(const GgufKeyReader& keys, const char* key) {
  const Json values = keys.list(key);
  if (values.size() != 3 || !std::all_of(values.begin(), values.end(), [](const Json& one) { return one.is_number(); }))
    keys.fail(key, shown_text(to_text(values)) + " is not three numbers");
  return values;
}

// The blocks that see the whole picture: every `pattern`-th one, or all if it is 0. The others see windows.
Json whole_blocks(std::int64_t blocks, std::int64_t pattern) {
  Json indexes = Json::array();
  for (std::int64_t block = 0; block < blocks; ++block)
    if (pattern == 0 || (block + 1) % pattern == 0) indexes.push_back(block);
  return indexes;
}

// The inverse of whole_blocks.
std::int64_t window_pattern(const VisionConfig& vision) {
  const std::vector<int>& whole = vision.fullatt_block_indexes;
  const bool all = std::ssize(whole) == vision.depth;
  const std::int64_t pattern = all ? 0 : whole.empty() ? vision.depth + 1 : whole.front() + 1;
  if (whole_blocks(vision.depth, pattern) != Json(whole))
    throw Error("GGUF: fullatt_block_indexes {} are not every n-th block, the only pattern that GGUF stores.",
                to_text(Json(whole)));
  return pattern;
}

std::vector<int> deepstack_blocks(const GgufFile& tower) {
  std::vector<int> blocks;
  const Json flags = tower.list("clip.vision.is_deepstack_layers").value_or(Json::array());
  for (std::size_t block = 0; block < flags.size(); ++block)
    if (flags[block] == true) blocks.push_back(static_cast<int>(block));
  return blocks;
}

// llama.cpp's and the hub's name of each tensor that is not split, both without ".weight" and ".bias".
using Names = std::vector<std::pair<std::string, std::string>>;

void add_block(const Tower& tower, std::int64_t block, Names& names) {
  const auto add = [&](const char* gguf, std::string_view hub) {
    names.emplace_back(fmt::format("v.blk.{}.{}", block, gguf), fmt::format("visual.blocks.{}.{}", block, hub));
  };
  add("ln1", "norm1");
  add("ln2", "norm2");
  add("attn_qkv", "attn.qkv");
  add("attn_out", "attn.proj");
  if (tower.mlp == Mlp::swiglu) add("ffn_gate", "mlp.gate_proj");
  add("ffn_up", tower.mlp == Mlp::swiglu ? "mlp.up_proj" : fmt::format("mlp.{}", tower.mlp_in));
  add("ffn_down", fmt::format("mlp.{}", tower.mlp_out));
}

void add_merger(const Tower& tower, const std::string& hub, const std::array<std::string, 3>& gguf, Names& names) {
  names.emplace_back(gguf[0], fmt::format("{}.{}", hub, tower.merger_norm));
  names.emplace_back(gguf[1], fmt::format("{}.{}", hub, tower.merger_in));
  names.emplace_back(gguf[2], fmt::format("{}.{}", hub, tower.merger_out));
}

constexpr const char* kPlaces = "visual.pos_embed";

Names names_of(const Tower& tower, std::int64_t blocks, const std::vector<int>& deepstack) {
  Names names{{"v.patch_embd", "visual.patch_embed.proj"}};  // only the bias; the weight is split
  if (tower.learns_places) names.emplace_back("v.position_embd", kPlaces);
  for (std::int64_t block = 0; block < blocks; ++block) add_block(tower, block, names);
  add_merger(tower, "visual.merger", {"v.post_ln", "mm.0", "mm.2"}, names);
  for (std::size_t i = 0; i < deepstack.size(); ++i) {
    const std::string stem = fmt::format("v.deepstack.{}.", deepstack[i]);
    add_merger(tower, fmt::format("visual.deepstack_merger_list.{}", i), {stem + "norm", stem + "fc1", stem + "fc2"},
               names);
  }
  return names;
}

// "v.blk.0.ln1.weight" -> "v.blk.0.ln1" and ".weight".
std::pair<std::string, std::string> parted(const std::string& name) {
  const std::size_t dot = std::min(name.rfind('.'), name.size());
  return {name.substr(0, dot), name.substr(dot)};
}

const TensorView* find_tensor(const GgufFile& tower, const std::string& name) {
  const auto found = tower.tensors().find(name);
  return found == tower.tensors().end() ? nullptr : &found->second;
}

// Early converters swapped the names of an MLP's two matrices: in their files ffn_down is the first one, whose inputs
// are the states.
bool has_exchanged_mlp(const GgufFile& tower, const GgufKeyReader& keys) {
  const TensorView* const down = find_tensor(tower, "v.blk.0.ffn_down.weight");
  const std::int64_t hidden = keys.number("clip.vision.embedding_length");
  return down && down->shape.size() == 2 && down->shape[1] == hidden && down->shape[0] != hidden;
}

// The inner width of the MLP, from its tensor: for Qwen2-VL, converters write another number to the key.
std::int64_t inner_width(const GgufFile& tower, const GgufKeyReader& keys) {
  const char* const name = has_exchanged_mlp(tower, keys) ? "v.blk.0.ffn_down.weight" : "v.blk.0.ffn_up.weight";
  const TensorView* const up = find_tensor(tower, name);
  if (!up || up->shape.size() != 2) keys.fail(name, "missing, or no matrix");
  return up->shape[0];
}

class Assembly {
 public:
  Assembly(const GgufFile& tower, const std::string& source) : tensors_(tower.tensors()), source_(source) {}

  GgufVisionTensors run(std::int64_t blocks, const std::map<std::string, std::string>& names) {
    for (const auto& [name, view] : tensors_) {
      if (name.starts_with("v.patch_embd.weight") || is_part_of_attention(name)) continue;
      const auto [stem, kind] = parted(name);
      const auto known = names.find(stem);
      result_.by_name.emplace(known == names.end() ? name : known->second + kind, view);
    }
    if (tensors_.contains("v.patch_embd.weight")) join_frames();
    for (std::int64_t block = 0; block < blocks; ++block)
      for (const char* kind : {"weight", "bias"})
        if (tensors_.contains(fmt::format("v.blk.{}.attn_q.{}", block, kind))) join_attention(block, kind);
    return std::move(result_);
  }

 private:
  static bool is_part_of_attention(const std::string& name) {
    const std::string stem = parted(name).first;
    return stem.starts_with("v.blk.") &&
           (stem.ends_with(".attn_q") || stem.ends_with(".attn_k") || stem.ends_with(".attn_v"));
  }
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
  return std::string(form_in(GgufKeyReader(tower, source)).model_type);
}

Json gguf_vision_config(const GgufFile& tower, const std::string& source) {
  const GgufKeyReader keys(tower, source);
  const TowerForm& form = form_in(keys);
  if (form.activation && keys.at(form.activation) != true) keys.fail(form.activation, "not true");
  const std::int64_t blocks = keys.number("clip.vision.block_count"),
                     hidden = keys.number("clip.vision.embedding_length"), inner = inner_width(tower, keys),
                     out = keys.number("clip.vision.projection_dim");
  Json config{{"depth", blocks},
              {"hidden_act", form.tower.activation},
              {"num_heads", keys.number("clip.vision.attention.head_count")},
              {"patch_size", keys.number("clip.vision.patch_size")},
              {"temporal_patch_size", kFrames},
              {"spatial_merge_size", keys.number_or("clip.vision.spatial_merge_size", 2)}};
  if (form.tower.has_mlp_ratio) {
    if (inner % hidden != 0) keys.fail("v.blk.0.ffn_up.weight", fmt::format("{} is no multiple of {}", inner, hidden));
    config.update({{"embed_dim", hidden}, {"hidden_size", out}, {"mlp_ratio", inner / hidden}});
  } else {
    config.update({{"hidden_size", hidden}, {"out_hidden_size", out}, {"intermediate_size", inner}});
  }
  if (form.tower.has_windows)
    config.update({{"window_size", keys.number_or("clip.vision.window_size", 112)},
                   {"fullatt_block_indexes", whole_blocks(blocks, keys.number("clip.vision.n_wa_pattern", 0))}});
  if (form.tower.video_time == VideoTime::seconds)
    config["tokens_per_second"] = keys.number_or("clip.vision.tokens_per_second", kTokensPerSecond);
  if (form.tower.learns_places) {
    const TensorView* const places = find_tensor(tower, "v.position_embd.weight");
    if (!places || places->shape.size() != 2) keys.fail("v.position_embd.weight", "missing, or no matrix");
    config["num_position_embeddings"] = places->shape[0];
  }
  if (form.tower.is_stacked) config["deepstack_visual_indexes"] = deepstack_blocks(tower);
  return config;
}

Json gguf_image_processor(const GgufFile& tower, const std::string& source) {
  const GgufKeyReader keys(tower, source);
  const TowerForm& form = form_in(keys);
  Json json{{"image_mean", colours(keys, "clip.vision.image_mean")},
            {"image_std", colours(keys, "clip.vision.image_std")},
            {"patch_size", keys.number("clip.vision.patch_size")},
            {"temporal_patch_size", kFrames},
            {"merge_size", keys.number_or("clip.vision.spatial_merge_size", 2)}};
  for (const auto& [name, key, otherwise] :
       {std::tuple("min_pixels", "clip.vision.image_min_pixels", form.least_pixels),
        std::tuple("max_pixels", "clip.vision.image_max_pixels", form.most_pixels)}) {
    if (const Json* const pixels = keys.find(key))
      json[name] = *pixels;
    else if (otherwise > 0)
      json[name] = otherwise;
  }
  return json;
}

GgufVisionTensors gguf_vision_tensors(const GgufFile& tower, const std::string& source) {
  const GgufKeyReader keys(tower, source);
  const std::int64_t blocks = keys.number("clip.vision.block_count");
  const bool is_exchanged = has_exchanged_mlp(tower, keys);
  std::map<std::string, std::string> names;
  for (auto& [gguf, hub] : names_of(form_in(keys).tower, blocks, deepstack_blocks(tower))) {
    const bool is_up = gguf.ends_with(".ffn_up"), is_down = gguf.ends_with(".ffn_down");
    if (is_exchanged && (is_up || is_down)) gguf.replace(gguf.rfind('.'), gguf.npos, is_up ? ".ffn_down" : ".ffn_up");
    names.emplace(std::move(gguf), std::move(hub));
  }
  return Assembly(tower, source).run(blocks, names);
}

namespace {

// Calls `put` with each contiguous run of values that belongs to a part of a tensor.
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
  if (vision.temporal_patch_size != kFrames)
    throw Error("GGUF: temporal_patch_size {} cannot be written, only {}: GGUF does not store it.",
                vision.temporal_patch_size, kFrames);
  const TowerForm& form = form_of(*vision.tower);
  const auto number = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  const auto colours = [](const auto& values) { return std::vector<float>(values.begin(), values.end()); };
  constexpr int kAnySide = 560;  // llama.cpp needs this key, but accepts pictures of any size
  const int side = form.tower.learns_places ? vision.places_a_side() * vision.patch_size : kAnySide;
  std::vector<GgufKey> keys{{"general.architecture", std::string("clip")},
                            {"general.type", std::string("mmproj")},
                            {"clip.has_vision_encoder", true},
                            {"clip.projector_type", std::string(form.projector)},
                            {"clip.vision.image_size", number(side)},
                            {"clip.vision.image_min_pixels", number(images.min_pixels)},
                            {"clip.vision.image_max_pixels", number(images.max_pixels)},
                            {"clip.vision.patch_size", number(vision.patch_size)},
                            {"clip.vision.embedding_length", number(vision.hidden_size)},
                            {"clip.vision.feed_forward_length", number(vision.intermediate_size)},
                            {"clip.vision.block_count", number(vision.depth)},
                            {"clip.vision.attention.head_count", number(vision.num_heads)},
                            {"clip.vision.attention.layer_norm_epsilon", 1e-6f},
                            {"clip.vision.projection_dim", number(vision.out_hidden_size)},
                            {"clip.vision.spatial_merge_size", number(vision.spatial_merge_size)},
                            {"clip.vision.image_mean", colours(images.mean)},
                            {"clip.vision.image_std", colours(images.std)}};
  if (form.activation) keys.push_back({form.activation, true});
  if (form.tower.has_windows) {
    keys.push_back({"clip.vision.window_size", number(vision.window_size)});
    keys.push_back({"clip.vision.n_wa_pattern", number(window_pattern(vision))});
  }
  if (form.tower.video_time == VideoTime::seconds && vision.tokens_per_second != kTokensPerSecond)
    keys.push_back({"clip.vision.tokens_per_second", number(vision.tokens_per_second)});
  if (form.tower.is_stacked) {
    std::vector<bool> flags(static_cast<std::size_t>(vision.depth));
    for (const int block : vision.deepstack_blocks) flags[static_cast<std::size_t>(block)] = true;
    keys.push_back({"clip.vision.is_deepstack_layers", std::move(flags)});
  }
  return keys;
}

std::vector<GgufTensor> gguf_vision_parts(const std::string& hub_name, const CheckpointTensor& tensor,
                                          const VisionConfig& vision, std::string_view type) {
  constexpr std::string_view kBlocks = "visual.blocks.";
  const auto [stem, kind] = parted(hub_name);
  if (hub_name == "visual.patch_embed.proj.weight" && tensor.view.shape.size() == 5) return frames_of(tensor);
  if (form_of(*vision.tower).splits_attention && stem.starts_with(kBlocks) && stem.ends_with(".attn.qkv"))
    return attention_parts(stem.substr(kBlocks.size(), stem.find('.', kBlocks.size()) - kBlocks.size()), kind, tensor,
                           type);
  for (const auto& [gguf, hub] : names_of(*vision.tower, vision.depth, vision.deepstack_blocks))
    if (hub == stem)
      return {part_of(gguf + kind, tensor, tensor.view.shape, stem == kPlaces ? "F32" : type,
                      [](auto values, const auto& put) { put(values); })};
  throw Error("GGUF: there is no name for the tensor {}.", hub_name);
}

}  // namespace agon::agents
