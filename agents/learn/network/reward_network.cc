#include "agents/learn/network/reward_network.h"

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>

#include "agents/config_reader.h"
#include "agents/learn/network/checkpoint_weights.h"
#include "agents/learn/network/one_torch_thread.h"
#include "agents/learn/network/packed_batch.h"
#include "agents/learn/network/tensor_views.h"
#include "agents/learn/network/token_logprob.h"
#include "core/error.h"
#include "core/file.h"
#include "core/hash.h"
#include "core/json_parse.h"
#include "core/rng.h"
#include "core/text.h"

namespace agon::agents {
namespace {

namespace fs = std::filesystem;
using at::Tensor;

constexpr const char *kHeadFile = "reward_head.safetensors", *kSeparator = "separator", *kLikelihood = "likelihood";

std::int64_t inputs_of(const RewardNetworkSettings& settings, const ModelConfig& config) {
  const std::int64_t hidden = config.text.hidden_size;
  return settings.representation == Representation::first_and_last ? 2 * hidden : hidden;
}

// Drawn with the same spread as the other embeddings.
Tensor draw_separator(const Tensor& embeddings, std::uint64_t seed) {
  const auto spread = embeddings.std().item<double>();
  Rng rng = Rng::derive(seed, "reward model", kSeparator, 0);
  Tensor row = at::empty({embeddings.size(1)});
  auto* values = row.mutable_data_ptr<float>();
  for (std::int64_t i = 0; i < row.numel(); ++i) values[i] = static_cast<float>(rng.normal() * spread);
  return row;
}

// [rows, hidden].
Tensor joined(std::span<const std::vector<float>> states, std::int64_t hidden) {
  std::size_t size = 0;
  for (const std::vector<float>& part : states) size += part.size();
  Tensor rows = at::empty({static_cast<std::int64_t>(size) / hidden, hidden});
  auto* to = rows.mutable_data_ptr<float>();
  for (const std::vector<float>& part : states) to = std::copy(part.begin(), part.end(), to);
  return rows;
}

Json json_of(const RewardNetworkSettings& settings, const fs::path& folder) {
  return {{"base", fs::proximate(fs::absolute(settings.base), fs::absolute(folder)).string()},
          {"joint", settings.joint},
          {"representation", representation_names()[static_cast<std::size_t>(settings.representation)]},
          {"head", head_names()[static_cast<std::size_t>(settings.head)]},
          {"inner", settings.inner},
          {"likelihood", settings.likelihood}};
}

// Hash of the names, shapes and first values of every weight.
std::string fingerprint_of(const TransformerNetwork& model) {
  constexpr std::int64_t kValues = 256;
  std::string text;
  for (const auto& [name, parameter] : model.named_parameters()) {
    const Tensor values = parameter.detach().flatten().slice(0, 0, kValues).contiguous();
    text += fmt::format("{} [{}] ", name, fmt::join(parameter.sizes(), ", "));
    text.append(static_cast<const char*>(values.data_ptr()), values.nbytes());
  }
  return fmt::format("{:016x}", hash_text(text));
}

RewardNetworkSettings read_settings(const fs::path& folder, Json& notes, std::string& base_weights) {
  const fs::path file = folder / kRewardModelFile;
  if (!fs::exists(file))
    throw Error("{}: no {}. Is it the folder of a reward model, as agon train-rm writes it?", folder.string(),
                kRewardModelFile);
  const Json json = json_or_discarded(read_file(file.string()));
  if (!json.is_object()) throw Error("{}: not a JSON object.", file.string());
  RewardNetworkSettings settings;
  ConfigSection section(json, file.string());
  std::string base, representation, head;
  section.read("base", base);
  section.read("joint", settings.joint);
  section.read("representation", representation);
  section.read("head", head);
  section.read("inner", settings.inner);
  section.read("likelihood", settings.likelihood);
  section.read("notes", notes);
  section.read("base_weights", base_weights);
  section.check();
  if (settings.inner < 1 || settings.inner > kMostInner)
    throw Error("{}: 'inner' must lie between 1 and {}, got {}.", file.string(), kMostInner, settings.inner);
  if (!notes.is_null() && !notes.is_object())
    throw Error("{}: 'notes' must be an object, got {}.", file.string(), notes.dump().substr(0, 80));
  settings.base = (folder / base).lexically_normal();
  settings.representation = parse_representation(representation);
  settings.head = parse_head(head);
  return settings;
}

}  // namespace

RewardNetwork::RewardNetwork(const RewardNetworkSettings& settings, std::uint64_t seed) : settings_(settings) {
  at::manual_seed(seed);
  open_base();
  add_separator(draw_separator(model_->lm_head(), seed));
  lora_ = std::make_unique<LoraAdapter>(model_, settings.lora, seed);
}

RewardNetwork::RewardNetwork(const fs::path& folder) : settings_(read_settings(folder, notes_, base_weights_)) {
  if (!fs::exists(settings_.base))
    throw Error("{}: its base model {} does not exist. Restore it, or correct 'base' in {}.", folder.string(),
                settings_.base.string(), kRewardModelFile);
  const std::string made_on = base_weights_;
  open_base();
  if (!made_on.empty() && made_on != base_weights_)  // older folders do not record it
    throw Error(
        "{}: it was trained on weights {}, but its base model {} has {}. Restore those weights, or correct 'base'.",
        (folder / kRewardModelFile).string(), made_on, settings_.base.string(), base_weights_);
  add_separator(read_head(folder));
  lora_ = std::make_unique<LoraAdapter>(model_, folder);
}

Tensor RewardNetwork::read_head(const fs::path& folder) {
  std::map<std::string, Tensor> wanted = head_weights();
  wanted[kSeparator] = at::empty({folder_.config.text.hidden_size});
  read_tensors(folder / kHeadFile, wanted);
  return wanted[kSeparator];
}

void RewardNetwork::restore(const fs::path& folder) {
  read_head(folder);
  lora_->restore(folder);
}

void RewardNetwork::open_base() {
  folder_ = open_model_folder(settings_.base);
  model_ = std::make_shared<TransformerNetwork>(folder_.config);
  load_weights(*model_, settings_.base);
  base_weights_ = fingerprint_of(*model_);
  head_ = std::make_unique<RewardHead>(settings_.head, inputs_of(settings_, folder_.config), settings_.inner);
  if (settings_.likelihood) likelihood_ = at::full({1}, kFirstLikelihoodWeight).requires_grad_();
}

std::map<std::string, Tensor> RewardNetwork::head_weights() const {
  std::map<std::string, Tensor> weights = head_->weights();
  if (likelihood_.defined()) weights[kLikelihood] = likelihood_;
  return weights;
}

void RewardNetwork::add_separator(const Tensor& embedding) {
  separator_embedding_ = embedding;
  separator_ = model_->add_token(embedding);
  folder_.config = model_->config();
}

ResponseSet RewardNetwork::read(const std::vector<Message>& messages, std::span<const std::string> responses) const {
  ResponseSet set;
  set.prompt = encode_prompt(messages, {}, folder_.chat, *folder_.tokenizer, folder_.images, folder_.config);
  for (const std::string& response : responses) {
    set.responses.push_back(folder_.tokenizer->encode(response, false, TextPlace::within));
    if (set.responses.back().empty()) set.responses.back().push_back(folder_.config.eos_token_ids.front());
  }
  return set;
}

std::size_t RewardNetwork::fitting(const ResponseSet& set) const {
  const std::int64_t context = folder_.config.text.max_position_embeddings, prompt = std::ssize(set.prompt.ids);
  std::int64_t end = prompt;
  for (std::size_t i = 0; i < set.responses.size(); ++i) {
    const std::int64_t begin = !settings_.joint ? prompt : i == 0 ? end : end + 1;  // after a separator
    end = begin + std::ssize(set.responses[i]);
    if (end > context) return i;
  }
  return set.responses.size();
}

bool RewardNetwork::fits(const std::vector<Message>& messages, std::span<const std::string> responses) const {
  return fitting(read(messages, responses)) == responses.size();
}

ResponseSet RewardNetwork::encode(const std::vector<Message>& messages, std::span<const std::string> responses) const {
  if (responses.empty()) throw Error("reward model: there is no response to score.");
  ResponseSet set = read(messages, responses);
  const std::size_t fit = fitting(set);
  if (fit == responses.size()) return set;
  const std::int64_t context = folder_.config.text.max_position_embeddings, prompt = std::ssize(set.prompt.ids);
  if (prompt >= context)
    throw Error("reward model: the prompt alone is {} tokens, and the context {}. Shorten it, or show fewer pictures.",
                prompt, context);
  if (settings_.joint)
    throw Error(
        "reward model: {} responses exceed the context of {}: a prompt of {} leaves {} tokens; the first {} fit.",
        responses.size(), context, prompt, context - prompt, fit);
  throw Error(
      "reward model: response {} of {} is {} tokens; a prompt of {} leaves {} of the context of {}. Shorten it or "
      "leave it out; the first {} fit.",
      fit + 1, responses.size(), set.responses[fit].size(), prompt, context - prompt, context, fit);
}

ResponseLayout RewardNetwork::lay_out(const ResponseSet& set) const {
  ResponseLayout layout;
  std::int64_t place = 0;
  for (const std::vector<std::int32_t>& response : set.responses) {
    if (layout.sequences.empty() || !settings_.joint) {
      layout.sequences.emplace_back();
    } else {
      layout.sequences.back().push_back(separator_);
      ++place;
    }
    layout.sequences.back().insert(layout.sequences.back().end(), response.begin(), response.end());
    layout.begins.push_back(place);
    layout.lengths.push_back(std::ssize(response));
    layout.ids.insert(layout.ids.end(), response.begin(), response.end());
    place += std::ssize(response);
  }
  return layout;
}

ResponseScores RewardNetwork::scores(std::span<const ResponseSet> sets, bool with_likelihoods) {
  std::vector<PackedGroup> groups;
  ResponseLayout all;  // in rows of the batch
  std::int64_t row = 0;
  for (const ResponseSet& set : sets) {
    const ResponseLayout layout = lay_out(set);
    std::vector<EncodedPrompt> sequences;
    for (const auto& ids : layout.sequences) sequences.push_back({ids, {}});
    groups.push_back(make_packed_group(set.prompt, sequences, folder_.config));
    row += std::ssize(set.prompt.ids);
    for (const std::int64_t begin : layout.begins) all.begins.push_back(row + begin);
    all.lengths.insert(all.lengths.end(), layout.lengths.begin(), layout.lengths.end());
    all.ids.insert(all.ids.end(), layout.ids.begin(), layout.ids.end());
    for (const auto& ids : layout.sequences) row += std::ssize(ids);
  }
  const PackedBatch batch = make_packed_batch(groups, folder_.config);
  Tensor pictures;
  if (batch.patches.defined()) {
    const at::NoGradGuard frozen;
    pictures = model_->encode_images(batch.patches, batch.grids);
  }
  return head_scores(model_->packed_hidden_states(batch, pictures), all, with_likelihoods);
}

std::vector<double> RewardNetwork::scores_of(std::span<const std::vector<float>> states,
                                             const ResponseLayout& layout) const {
  const at::NoGradGuard no_grad;
  const OneTorchThread alone;
  const Tensor scores =
      head_scores(joined(states, folder_.config.text.hidden_size), layout, false).scores.to(at::kDouble).contiguous();
  return {scores.const_data_ptr<double>(), scores.const_data_ptr<double>() + scores.numel()};
}

ResponseScores RewardNetwork::head_scores(const Tensor& states, const ResponseLayout& layout,
                                          bool with_likelihoods) const {
  ResponseScores found{(*head_)(represent(states, layout.begins, layout.lengths, settings_.representation)), {}};
  if (with_likelihoods || likelihood_.defined()) found.log_likelihoods = log_likelihoods(states, layout);
  if (likelihood_.defined()) found.scores = found.scores + likelihood_ * found.log_likelihoods;
  return found;
}

// [N]; 0 for a response of one token.
Tensor RewardNetwork::log_likelihoods(const Tensor& states, const ResponseLayout& layout) const {
  std::vector<std::int64_t> rows, ids, owners;  // of each token that counts: the state before it, itself, its response
  std::int64_t first = 0;
  for (std::size_t i = 0; i < layout.lengths.size(); ++i) {
    for (std::int64_t k = 1; k < layout.lengths[i]; ++k) {
      rows.push_back(layout.begins[i] + k - 1);
      ids.push_back(layout.ids[static_cast<std::size_t>(first + k)]);
      owners.push_back(static_cast<std::int64_t>(i));
    }
    first += layout.lengths[i];
  }
  const Tensor none = at::zeros({std::ssize(layout.lengths)});
  if (rows.empty()) return none;
  const Tensor vocabulary = model_->lm_head().slice(0, 0, separator_);  // a response never contains the separator
  const Tensor each = token_logprobs(states.index_select(0, at::tensor(rows)), vocabulary, at::tensor(ids)).logprob;
  return none.index_add(0, at::tensor(owners), each);
}

std::vector<Tensor> RewardNetwork::parameters() const {
  std::vector<Tensor> all = lora_->parameters();
  for (const auto& [name, weight] : head_weights()) all.push_back(weight);
  return all;
}

void RewardNetwork::save(const fs::path& folder, const Json& notes) const {
  lora_->save(folder, settings_.base.string());
  TensorViews tensors;
  for (const auto& [name, weight] : head_weights()) tensors.add(name, weight);
  tensors.add(kSeparator, separator_embedding_);
  tensors.write(folder / kHeadFile);
  Json json = json_of(settings_, folder);
  json["notes"] = notes;
  json["base_weights"] = base_weights_;
  write_file_atomically((folder / kRewardModelFile).string(), json.dump(2) + "\n");
}

EngineWeights RewardNetwork::engine_weights() {
  const LoraAdapter::Merged merged(*lora_);
  return engine_weights_of(*model_);
}

}  // namespace agon::agents
