#include "agents/engine/local_policy.h"

#include <map>

#include "agents/hub/prompt.h"

namespace agon::agents {
namespace {

void append(std::string& bytes, std::string_view text) {
  bytes += fmt::format("{} ", text.size());
  bytes += text;
}

// Equal for messages and prefixes that are equal.
Hash128 hash_of(const std::vector<Message>& messages, std::string_view prefix) {
  std::string bytes;
  append(bytes, prefix);
  for (const Message& message : messages) {
    append(bytes, to_string(message.role));
    append(bytes,
           {reinterpret_cast<const char*>(message.token_ids.data()), message.token_ids.size() * sizeof(std::int32_t)});
    bytes += fmt::format("{} ", message.parts.size());
    for (const Part& part : message.parts) {
      append(bytes, part.is_image() ? "image" : "text");
      append(bytes, part.is_image() ? part.image.hash().hex() : part.text);
    }
  }
  return hash_bytes({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

}  // namespace

// The prompts of one call; equal prompts are rendered and tokenised once.
class LocalPolicy::Prompts {
 public:
  explicit Prompts(LocalPolicy& policy) : policy_(policy) {}
  const EncodedPrompt& encode(const std::vector<Message>& messages, std::string_view prefix) {
    const auto [place, fresh] = known_.try_emplace(hash_of(messages, prefix));
    const ModelFolder& folder = policy_.folder_;
    if (fresh)
      place->second = encode_prompt(messages, prefix, folder.chat, *folder.tokenizer, folder.images, folder.config,
                                    &policy_.pictures_);
    return place->second;
  }

 private:
  LocalPolicy& policy_;
  std::map<Hash128, EncodedPrompt> known_;
};

LocalPolicy::LocalPolicy(ModelFolder folder, EngineWeights weights, const LocalPolicyOptions& options)
    : folder_(std::move(folder)),
      pictures_(folder_.images),
      engine_(std::move(weights), folder_.config, folder_.tokenizer,
              {.max_batch = options.max_batch, .threads = options.threads}) {}

std::vector<Completion> LocalPolicy::complete(std::span<const CompletionRequest> requests) {
  std::vector<Completion> completions;
  std::vector<std::size_t> places;  // in completions, of what is run
  std::vector<GenerationRequest> encoded;
  Prompts prompts(*this);
  for (const CompletionRequest& request : requests) {
    const EncodedPrompt& prompt = prompts.encode(request.messages, request.prefix);
    const int tokens = static_cast<int>(prompt.ids.size());
    const bool fits = tokens <= engine_.max_context();
    for (int i = 0; i < request.n; ++i) {
      if (fits) places.push_back(completions.size());
      completions.push_back({.finish_reason = FinishReason::context, .prompt_tokens = tokens});
    }
    if (fits) encoded.push_back({prompt, request.n, request.sampling});
  }
  if (encoded.empty()) return completions;
  std::vector<Completion> run = engine_.generate(std::move(encoded));
  for (std::size_t i = 0; i < run.size(); ++i) completions[places[i]] = std::move(run[i]);
  return completions;
}

std::vector<TokenScores> LocalPolicy::score(std::span<const ScoreRequest> requests) {
  std::vector<TokenScores> scores(requests.size());
  std::vector<std::size_t> places;  // in scores, of what is run
  std::vector<ScoringRequest> encoded;
  Prompts prompts(*this);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const ScoreRequest& request = requests[i];
    const EncodedPrompt& prompt = prompts.encode(request.messages, {});
    std::vector<std::int32_t> tokens = request.token_ids.empty()
                                           ? folder_.tokenizer->encode(request.text, false, TextPlace::within)
                                           : request.token_ids;
    if (std::ssize(prompt.ids) + std::ssize(tokens) > engine_.max_context()) continue;
    places.push_back(i);
    encoded.push_back({prompt, std::move(tokens), request.temperature});
  }
  std::vector<TokenScores> run = engine_.score(std::move(encoded));
  for (std::size_t i = 0; i < run.size(); ++i) scores[places[i]] = std::move(run[i]);
  return scores;
}

Capabilities LocalPolicy::capabilities() const {
  return {folder_.path.filename().string(), folder_.config.vision.has_value(), true, true, engine_.max_context()};
}

std::unique_ptr<Policy> make_local_policy(const std::filesystem::path& folder, const LocalPolicyOptions& options) {
  ModelFolder parts = open_model_folder(folder);
  EngineWeights weights = load_engine_weights(parts.path, parts.config, options.weights);
  return std::make_unique<LocalPolicy>(std::move(parts), std::move(weights), options);
}

}  // namespace agon::agents
