#include "agents/local/local_policy.h"

#include "agents/local/prompt.h"

namespace agon::agents {

LocalPolicy::LocalPolicy(ModelFolder folder, EngineWeights weights, const LocalPolicyOptions& options)
    : folder_(std::move(folder)),
      engine_(std::move(weights), folder_.config, folder_.tokenizer,
              {.max_batch = options.max_batch, .threads = options.threads}) {}

std::vector<Completion> LocalPolicy::complete(std::span<const CompletionRequest> requests) {
  std::vector<Completion> completions;
  std::vector<std::size_t> places;  // in completions, of what is run
  std::vector<GenerationRequest> encoded;
  for (const CompletionRequest& request : requests) {
    EncodedPrompt prompt = encode(request.messages, request.prefix);
    const int tokens = static_cast<int>(prompt.ids.size());
    const bool fits = tokens <= engine_.max_context();
    for (int i = 0; i < request.n; ++i) {
      if (fits) places.push_back(completions.size());
      completions.push_back({.finish_reason = FinishReason::context, .prompt_tokens = tokens});
    }
    if (fits) encoded.push_back({std::move(prompt), request.n, request.sampling});
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
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const ScoreRequest& request = requests[i];
    EncodedPrompt prompt = encode(request.messages, {});
    std::vector<std::int32_t> tokens =
        request.token_ids.empty() ? folder_.tokenizer->encode(request.text, false) : request.token_ids;
    if (std::ssize(prompt.ids) + std::ssize(tokens) > engine_.max_context()) continue;
    places.push_back(i);
    encoded.push_back({std::move(prompt), std::move(tokens), request.temperature});
  }
  std::vector<TokenScores> run = engine_.score(std::move(encoded));
  for (std::size_t i = 0; i < run.size(); ++i) scores[places[i]] = std::move(run[i]);
  return scores;
}

Capabilities LocalPolicy::capabilities() const {
  return {folder_.path.filename().string(), true, true, true, engine_.max_context()};
}

EncodedPrompt LocalPolicy::encode(const std::vector<Message>& messages, std::string_view prefix) const {
  return encode_prompt(messages, prefix, folder_.chat, *folder_.tokenizer, folder_.images, folder_.config);
}

std::unique_ptr<Policy> make_local_policy(const std::filesystem::path& folder, const LocalPolicyOptions& options) {
  ModelFolder parts = open_model_folder(folder);
  EngineWeights weights = load_engine_weights(parts.path, parts.config);
  return std::make_unique<LocalPolicy>(std::move(parts), std::move(weights), options);
}

}  // namespace agon::agents
