#include "agents/engine/local_policy.h"

#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "agents/engine/cpu_backend.h"
#include "agents/hub/peft_config.h"
#include "agents/hub/prompt.h"
#include "agents/model_fingerprint.h"

namespace agon::agents {
namespace {

void append(std::string& bytes, std::string_view text) {
  bytes += fmt::format("{} ", text.size());
  bytes += text;
}

// Identifies messages and prefix.
Hash128 hash_of(const std::vector<Message>& messages, std::string_view prefix) {
  std::string bytes;
  append(bytes, prefix);
  for (const Message& message : messages) {
    append(bytes, to_string(message.role));
    append(bytes,
           {reinterpret_cast<const char*>(message.token_ids.data()), message.token_ids.size() * sizeof(std::int32_t)});
    bytes += fmt::format("{} ", message.parts.size());
    for (const Part& part : message.parts) {
      append(bytes, part.is_text() ? "text" : "seen");
      append(bytes, part.content());
    }
  }
  return hash_bytes({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

std::shared_ptr<LocalModel> load_model(const std::filesystem::path& folder, const LocalPolicyOptions& options) {
  OpenModel model = open_model(folder, options.backend, options.resampler);
  return std::make_shared<LocalModel>(std::move(model.folder), std::move(model.backend), options);
}

// The model that another policy of this process has loaded, or a new one. A folder whose files have changed since is
// another model.
std::shared_ptr<LocalModel> shared_model(const std::filesystem::path& folder, const LocalPolicyOptions& options) {
  if (!std::filesystem::exists(folder)) return load_model(folder, options);  // its error says what is missing
  using Key = std::tuple<std::string, std::string, BackendOptions, std::optional<Resampler>, int, int>;
  static std::mutex mutex;
  static std::map<Key, std::weak_ptr<LocalModel>> models;
  const Key key{std::filesystem::canonical(folder).string(),
                model_fingerprint(folder),
                options.backend,
                options.resampler,
                options.max_batch,
                options.threads};
  const std::lock_guard lock(mutex);
  std::erase_if(models, [](const auto& known) { return known.second.expired(); });
  if (const auto found = models.find(key); found != models.end())
    if (auto model = found->second.lock()) return model;
  auto model = load_model(folder, options);
  models[key] = model;
  return model;
}

}  // namespace

LocalModel::LocalModel(ModelFolder parts, std::unique_ptr<ModelBackend> backend, const LocalPolicyOptions& options)
    : folder(std::move(parts)),
      pictures(folder.images),
      engine(std::move(backend), folder.config, folder.tokenizer,
             {.max_batch = options.max_batch, .threads = options.threads}) {}

// The prompts of one call; equal prompts are rendered and tokenised once.
class LocalPolicy::Prompts {
 public:
  explicit Prompts(LocalModel& model) : model_(model) {}
  const EncodedPrompt& encode(const std::vector<Message>& messages, std::string_view prefix) {
    const auto [place, fresh] = known_.try_emplace(hash_of(messages, prefix));
    const ModelFolder& folder = model_.folder;
    if (fresh)
      place->second = encode_prompt(messages, prefix, folder.chat, *folder.tokenizer, folder.images, folder.config,
                                    &model_.pictures);
    return place->second;
  }

 private:
  LocalModel& model_;
  std::map<Hash128, EncodedPrompt> known_;
};

LocalPolicy::LocalPolicy(std::string name, std::shared_ptr<LocalModel> model,
                         std::shared_ptr<const EngineAdapter> adapter)
    : name_(std::move(name)), model_(std::move(model)), adapter_(std::move(adapter)) {}

LocalPolicy::LocalPolicy(ModelFolder folder, std::unique_ptr<ModelBackend> backend, const LocalPolicyOptions& options)
    : name_(folder.path.filename().string()),
      model_(std::make_shared<LocalModel>(std::move(folder), std::move(backend), options)) {}

LocalPolicy::LocalPolicy(ModelFolder folder, EngineWeights weights, const LocalPolicyOptions& options)
    : LocalPolicy(folder, std::make_unique<CpuBackend>(std::move(weights), folder.config), options) {}

std::vector<Completion> LocalPolicy::complete(std::span<const CompletionRequest> requests) {
  std::vector<Completion> completions;
  std::vector<std::size_t> places;  // indices in `completions` of the prompts that fit the context
  std::vector<GenerationRequest> encoded;
  Prompts prompts(*model_);
  for (const CompletionRequest& request : requests) {
    const EncodedPrompt& prompt = prompts.encode(request.messages, request.prefix);
    const int tokens = static_cast<int>(prompt.ids.size());
    const bool fits = tokens <= model_->engine.max_context();
    for (int i = 0; i < request.n; ++i) {
      if (fits) places.push_back(completions.size());
      completions.push_back({.finish_reason = FinishReason::context, .prompt_tokens = tokens});
    }
    if (fits) encoded.push_back({prompt, request.n, request.sampling, adapter_});
  }
  if (encoded.empty()) return completions;
  std::vector<Completion> run = model_->engine.generate(std::move(encoded));
  for (std::size_t i = 0; i < run.size(); ++i) completions[places[i]] = std::move(run[i]);
  return completions;
}

std::vector<TokenScores> LocalPolicy::score(std::span<const ScoreRequest> requests) {
  std::vector<TokenScores> scores(requests.size());
  std::vector<std::size_t> places;  // indices in `scores` of the requests that fit the context
  std::vector<ScoringRequest> encoded;
  Prompts prompts(*model_);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const ScoreRequest& request = requests[i];
    const EncodedPrompt& prompt = prompts.encode(request.messages, {});
    std::vector<std::int32_t> tokens = request.token_ids.empty()
                                           ? model_->folder.tokenizer->encode(request.text, false, TextPlace::within)
                                           : request.token_ids;
    if (std::ssize(prompt.ids) + std::ssize(tokens) > model_->engine.max_context()) continue;
    places.push_back(i);
    encoded.push_back({prompt, std::move(tokens), request.temperature, 0, adapter_});
  }
  std::vector<TokenScores> run = model_->engine.score(std::move(encoded));
  for (std::size_t i = 0; i < run.size(); ++i) scores[places[i]] = std::move(run[i]);
  return scores;
}

Capabilities LocalPolicy::capabilities() const {
  const bool sees = model_->folder.config.vision.has_value();
  Capabilities can{name_, sees, true, true, model_->engine.max_context()};
  can.videos = sees;
  return can;
}

std::unique_ptr<LocalPolicy> make_local_policy(const std::filesystem::path& folder, const LocalPolicyOptions& options) {
  const bool is_adapter = is_adapter_folder(folder);
  const auto model = shared_model(is_adapter ? base_of_adapter(folder) : folder, options);
  if (!is_adapter) return std::make_unique<LocalPolicy>(model->folder.path.filename().string(), model, nullptr);
  return std::make_unique<LocalPolicy>(folder.filename().string(), model, model->engine.load_adapter(folder));
}

}  // namespace agon::agents
