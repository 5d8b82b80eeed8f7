#include "agents/local/local_policy.h"

#include "agents/local/checkpoint.h"
#include "agents/local/engine.h"
#include "agents/local/prompt.h"
#include "core/error.h"

namespace agon::agents {
namespace {

class LocalPolicy : public Policy {
 public:
  LocalPolicy(ModelFolder folder, const LocalPolicyOptions& options)
      : folder_(std::move(folder)),
        engine_(load_engine_weights(folder_.path, folder_.config), folder_.config, folder_.tokenizer,
                {.max_batch = options.max_batch, .threads = options.threads}) {}

  std::vector<Completion> complete(std::span<const CompletionRequest> requests) override {
    std::vector<GenerationRequest> encoded;
    for (const CompletionRequest& request : requests)
      encoded.push_back({encode(request.messages, request.prefix), request.n, request.sampling});
    return engine_.generate(std::move(encoded));
  }

  std::vector<TokenScores> score(std::span<const ScoreRequest> requests) override {
    std::vector<ScoringRequest> encoded;
    for (const ScoreRequest& request : requests)
      encoded.push_back({encode(request.messages, {}), request.token_ids, request.temperature});
    return engine_.score(std::move(encoded));
  }

  Capabilities capabilities() const override {
    return {folder_.path.filename().string(), true, true, true, engine_.max_context()};
  }

 private:
  EncodedPrompt encode(const std::vector<Message>& messages, std::string_view prefix) const {
    return encode_prompt(messages, prefix, folder_.chat, *folder_.tokenizer, folder_.images, folder_.config);
  }
  const ModelFolder folder_;
  Engine engine_;
};

}  // namespace

std::unique_ptr<Policy> make_local_policy(const std::filesystem::path& folder, const LocalPolicyOptions& options) {
  return std::make_unique<LocalPolicy>(open_model_folder(folder), options);
}

}  // namespace agon::agents
