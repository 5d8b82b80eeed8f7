// agents/learn/network/reward_network.h - the reward model of YOJO (You Only Judge Once): a policy's model with an
// adapter, a separator token of its own and a head that turns the state at each response's end into a score. Letters: N
// responses of all sets, H hidden.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "agents/engine/engine_weights.h"
#include "agents/hub/model_folder.h"
#include "agents/hub/prompt.h"
#include "agents/learn/data/response_scorer.h"
#include "agents/learn/network/lora.h"
#include "agents/learn/network/qwen2_5_vl.h"
#include "agents/learn/network/reward_head.h"
#include "core/json.h"
#include "core/message.h"

namespace agon::agents {

inline constexpr std::int64_t kMostInner = 65536;      // width of a head
inline constexpr double kFirstLikelihoodWeight = 0.2;  // nats of some thirty tokens are far apart

struct RewardNetworkSettings {
  std::filesystem::path base;  // model folder
  // A response sees the prompt and those before it, [x; y1; sep; y2; ...; yN] (as published); false: the prompt alone,
  // so that scores do not depend on the order.
  bool joint = true;
  Representation representation = Representation::last;
  HeadKind head = HeadKind::silu;
  std::int64_t inner = 1024;
  // Adds a log p(y | what is before it), of the tokens of response y but its first under the model itself, with a
  // trained weight a: what the policy holds of an answer is where the head begins (not in YOJO).
  bool likelihood = false;
  LoraOptions lora{64, 16, kLoraTargets};
};

// A prompt and its responses as tokens. A response ends before the end of the turn; an empty one is that end alone.
// What a response says is never read as a separator, which has no text.
struct ResponseSet {
  EncodedPrompt prompt;
  std::vector<std::vector<std::int32_t>> responses;
};

// The tokens behind the prompt: one sequence of all responses, or one each. Response i stands at begins[i] ..
// begins[i] + lengths[i] of the sequences put one behind the other.
struct ResponseLayout {
  std::vector<std::vector<std::int32_t>> sequences;
  std::vector<std::int64_t> begins, lengths;
  std::vector<std::int64_t> ids;  // of all responses, one behind the other
};

// [N] each. log_likelihoods: of a response's tokens but its first; undefined where neither they were asked for nor
// settings.likelihood is set.
struct ResponseScores {
  at::Tensor scores, log_likelihoods;
};

class RewardNetwork {
 public:
  // Fresh: the base with an adapter that changes nothing yet. Throws Error as open_model_folder and LoraAdapter do.
  RewardNetwork(const RewardNetworkSettings& settings, std::uint64_t seed);
  // As save() wrote it. Throws Error for files that are missing, damaged or of another base.
  explicit RewardNetwork(const std::filesystem::path& folder);

  // Throws Error for a set that passes the context, with the number of its responses that fit, and for no response.
  ResponseSet encode(const std::vector<Message>& messages, std::span<const std::string> responses) const;
  bool fits(const std::vector<Message>& messages, std::span<const std::string> responses) const;
  ResponseLayout lay_out(const ResponseSet& set) const;
  // One set behind the other; the pictures take no gradient.
  ResponseScores scores(std::span<const ResponseSet> sets, bool with_likelihoods = false);
  // Of the states at the tokens of each of the layout's sequences, [tokens, H] each, as Engine::states gives them. Any
  // thread may call it.
  std::vector<double> scores_of(std::span<const std::vector<float>> states, const ResponseLayout& layout) const;

  std::vector<at::Tensor> parameters() const;  // what is trained: adapter and head
  // adapter_config.json, adapter_model.safetensors (PEFT), reward_head.safetensors, reward_model.json, which comes last
  // and holds `notes` and base_weights() beside the settings.
  void save(const std::filesystem::path& folder, const Json& notes) const;
  // The trained values that save() wrote, into these parameters. Throws Error for files that are damaged.
  void restore(const std::filesystem::path& folder);
  EngineWeights engine_weights();                        // with the adapter in them
  const ModelFolder& folder() const { return folder_; }  // its config knows the separator
  const RewardNetworkSettings& settings() const { return settings_; }
  const Json& notes() const { return notes_; }
  // Of the base's weights, as they are without the adapter: of their names, shapes and first values.
  const std::string& base_weights() const { return base_weights_; }

 private:
  ResponseSet read(const std::vector<Message>& messages, std::span<const std::string> responses) const;
  std::size_t fitting(const ResponseSet& set) const;  // how many of its responses, from the first on, the context holds
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
  std::shared_ptr<Qwen25VL> model_;
  std::unique_ptr<LoraAdapter> lora_;
  std::unique_ptr<RewardHead> head_;
  at::Tensor likelihood_;           // a, [1]; undefined without it
  at::Tensor separator_embedding_;  // [H]
  std::int32_t separator_ = 0;
};

}  // namespace agon::agents
