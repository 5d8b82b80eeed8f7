// agents/learn/network/reward_network.h - the reward model of YOJO (You Only Judge Once, arXiv 2604.10966): scores
// several responses to a prompt in one pass. It is a policy's model with an adapter, an additional separator token, and
// a head that turns each response's hidden states into a score. Letters: N responses of all sets, H hidden.
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

inline constexpr std::int64_t kMostInner = 65536;      // limit of a head's width
inline constexpr double kFirstLikelihoodWeight = 0.2;  // initial a; log-likelihoods of ~30 tokens differ by many nats

struct RewardNetworkSettings {
  std::filesystem::path base;  // model folder
  // A response sees the prompt and the responses before it, [x; y1; sep; y2; ...; yN] (as published); false: only the
  // prompt, so that scores do not depend on the order.
  bool joint = true;
  Representation representation = Representation::last;
  HeadKind head = HeadKind::silu;
  std::int64_t inner = 1024;
  // Adds a * log p(y | text before it) to the score: the log-likelihood of response y under the model itself, over its
  // tokens except the first, with a trained weight a. The head thus starts from the policy's own confidence (not in
  // YOJO).
  bool likelihood = false;
  LoraOptions lora{64, 16, kLoraTargets};
};

// A prompt and its responses as tokens. A response ends before the end-of-turn token; an empty response is only that
// token. The separator has no text, so no response can contain it.
struct ResponseSet {
  EncodedPrompt prompt;
  std::vector<std::vector<std::int32_t>> responses;
};

// The tokens after the prompt: one sequence of all responses (joint), or one sequence per response. Response i is at
// begins[i] .. begins[i] + lengths[i] of the concatenated sequences.
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

  // Tokenises a set. Throws Error for a set that exceeds the context, reporting how many responses fit, and for a set
  // without responses.
  ResponseSet encode(const std::vector<Message>& messages, std::span<const std::string> responses) const;
  bool fits(const std::vector<Message>& messages, std::span<const std::string> responses) const;
  ResponseLayout lay_out(const ResponseSet& set) const;
  // Scores of all responses of the sets, one set after another. Pictures get no gradient.
  ResponseScores scores(std::span<const ResponseSet> sets, bool with_likelihoods = false);
  // Scores from the hidden states of each sequence of the layout, [tokens, H] each, as Engine::states returns them. Any
  // thread may call it.
  std::vector<double> scores_of(std::span<const std::vector<float>> states, const ResponseLayout& layout) const;

  std::vector<at::Tensor> parameters() const;  // the trained tensors: adapter and head
  // adapter_config.json, adapter_model.safetensors (PEFT), reward_head.safetensors, reward_model.json, which comes last
  // and holds the settings, `notes` and base_weights().
  void save(const std::filesystem::path& folder, const Json& notes) const;
  // Loads the trained values that save() wrote into these parameters. Throws Error for damaged files.
  void restore(const std::filesystem::path& folder);
  EngineWeights engine_weights();                        // with the adapter merged
  const ModelFolder& folder() const { return folder_; }  // its config includes the separator
  const RewardNetworkSettings& settings() const { return settings_; }
  const Json& notes() const { return notes_; }
  // Hash of the base's weights without the adapter: names, shapes and first values.
  const std::string& base_weights() const { return base_weights_; }

 private:
  ResponseSet read(const std::vector<Message>& messages, std::span<const std::string> responses) const;
  std::size_t fitting(const ResponseSet& set) const;  // number of leading responses that fit the context
  ResponseScores head_scores(const at::Tensor& states, const ResponseLayout& layout, bool with_likelihoods) const;
  at::Tensor log_likelihoods(const at::Tensor& states, const ResponseLayout& layout) const;
  std::map<std::string, at::Tensor> head_weights() const;  // by their names in the file
  void open_base();
  at::Tensor read_head(const std::filesystem::path& folder);  // returns the separator's embedding
  void add_separator(const at::Tensor& embedding);

  Json notes_;                // before settings_, whose initialiser fills it in
  std::string base_weights_;  // likewise
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
