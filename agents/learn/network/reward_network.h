// agents/learn/network/reward_network.h - the reward model of YOJO (You Only Judge Once): a policy's model with an
// adapter, an additional separator token, and a head that turns the state at each response's end into a score. Letters:
// N responses of all sets, H hidden.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "agents/engine/weights.h"
#include "agents/hub/model_folder.h"
#include "agents/hub/prompt.h"
#include "agents/learn/data/response_scorer.h"
#include "agents/learn/network/lora.h"
#include "agents/learn/network/reward_head.h"
#include "agents/learn/network/transformer_network.h"
#include "core/json.h"
#include "core/message.h"

namespace agon::agents {

inline constexpr std::int64_t kMostInner = 65536;      // width of a head
inline constexpr double kFirstLikelihoodWeight = 0.2;  // nats of some thirty tokens are far apart

struct RewardNetworkSettings {
  std::filesystem::path base;  // model folder
  // A response sees the prompt and the responses before it, [x; y1; sep; y2; ...; yN] (as published); false: only the
  // prompt, so that scores do not depend on the order.
  bool joint = true;
  Representation representation = Representation::last;
  HeadKind head = HeadKind::silu;
  std::int64_t inner = 1024;
  // Adds a * log p(y | text before it), over the tokens of response y except its first, under the model itself, with a
  // trained weight a. So the head starts from the policy's own confidence (not in YOJO).
  bool likelihood = false;
  LoraOptions lora{64, 16, kLoraTargets};
};

// A prompt and its responses as tokens. A response ends before the end-of-turn token; an empty response is only that
// token. The separator has no text, so no response can contain it.
struct ResponseSet {
  EncodedPrompt prompt;
  std::vector<std::vector<std::int32_t>> responses;
};

// The tokens after the prompt: one sequence of all responses, or one each. Response i is at begins[i] .. begins[i] +
// lengths[i] of the concatenated sequences.
struct ResponseLayout {
  std::vector<std::vector<std::int32_t>> sequences;
  std::vector<std::int64_t> begins, lengths;
  std::vector<std::int64_t> ids;  // of all responses, concatenated
};

// [N] each. log_likelihoods: of a response's tokens except its first; undefined unless requested or settings.likelihood
// is set.
struct ResponseScores {
  at::Tensor scores, log_likelihoods;
};

class RewardNetwork {
 public:
  // A fresh network: the base with an adapter that changes nothing yet. Throws Error as open_model_folder and
  // LoraAdapter do.
  RewardNetwork(const RewardNetworkSettings& settings, std::uint64_t seed);
  // Loads a folder that save() wrote. Throws Error for files that are missing, damaged or of another base.
  explicit RewardNetwork(const std::filesystem::path& folder);

  // Throws Error for a set that exceeds the context, with the number of its responses that fit, and for a set without
  // responses.
  ResponseSet encode(const std::vector<Message>& messages, std::span<const std::string> responses) const;
  bool fits(const std::vector<Message>& messages, std::span<const std::string> responses) const;
  ResponseLayout lay_out(const ResponseSet& set) const;
  // Scores one set after another; the pictures take no gradient.
  ResponseScores scores(std::span<const ResponseSet> sets, bool with_likelihoods = false);
  // Scores from the states at the tokens of each sequence of the layout, [tokens, H] each, as Engine::states gives
  // them. Any thread may call it.
  std::vector<double> scores_of(std::span<const std::vector<float>> states, const ResponseLayout& layout) const;

  std::vector<at::Tensor> parameters() const;  // the trained tensors: adapter and head
  // adapter_config.json, adapter_model.safetensors (PEFT), reward_head.safetensors, reward_model.json, which comes last
  // and holds the settings, `notes` and base_weights().
  void save(const std::filesystem::path& folder, const Json& notes) const;
  // Loads the trained values that save() wrote into these parameters. Throws Error for damaged files.
  void restore(const std::filesystem::path& folder);
  EngineWeights engine_weights();                        // with the adapter merged
  const ModelFolder& folder() const { return folder_; }  // its config knows the separator
  const RewardNetworkSettings& settings() const { return settings_; }
  const Json& notes() const { return notes_; }
  // Hash of the base's weights without the adapter: of their names, shapes and first values.
  const std::string& base_weights() const { return base_weights_; }

 private:
  ResponseSet read(const std::vector<Message>& messages, std::span<const std::string> responses) const;
  std::size_t fitting(const ResponseSet& set) const;  // number of its first responses that fit the context
  ResponseScores head_scores(const at::Tensor& states, const ResponseLayout& layout, bool with_likelihoods) const;
  at::Tensor log_likelihoods(const at::Tensor& states, const ResponseLayout& layout) const;
  std::map<std::string, at::Tensor> head_weights() const;  // by their names in the file
  void open_base();
  at::Tensor read_head(const std::filesystem::path& folder);  // returns the separator's embedding
  void add_separator(const at::Tensor& embedding);

  Json notes_;                // first: reading the settings fills it in
  std::string base_weights_;  // so does this
  RewardNetworkSettings settings_;
  ModelFolder folder_;
  std::shared_ptr<TransformerNetwork> model_;
  std::unique_ptr<LoraAdapter> lora_;
  std::unique_ptr<RewardHead> head_;
  at::Tensor likelihood_;           // a, [1]; undefined without it
  at::Tensor separator_embedding_;  // [H]
  std::int32_t separator_ = 0;
};

}  // namespace agon::agents
