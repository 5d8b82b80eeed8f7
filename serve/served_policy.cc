#include "serve/served_policy.h"

#include <algorithm>
#include <limits>

#include "agents/hub/prompt.h"
#include "core/error.h"
#include "serve/api_error.h"

namespace agon::serve {
namespace {

Refused past_context(std::string why) { return {{400, std::move(why), "context_length_exceeded"}}; }

std::size_t longest_token(const agents::Tokenizer& tokenizer) {
  std::size_t longest = 1;
  for (std::int32_t id = 0; id < tokenizer.vocab_size(); ++id)
    longest = std::max(longest, tokenizer.token_bytes(id).size());
  return longest;
}

}  // namespace

ServedPolicy::ServedPolicy(const std::filesystem::path& folder, const agents::EngineOptions& options,
                           const agents::BackendOptions& backend, std::optional<agents::Resampler> resampler)
    : ServedPolicy(folder, agents::open_model(folder, backend, resampler), options) {}

ServedPolicy::ServedPolicy(const std::filesystem::path& folder, agents::OpenModel model,
                           const agents::EngineOptions& options)
    : folder_(std::move(model.folder)),
      name_(std::filesystem::weakly_canonical(folder).filename().string()),
      longest_token_(longest_token(*folder_.tokenizer)),
      pictures_(folder_.images),
      engine_(std::move(model.backend), folder_.config, folder_.tokenizer, options) {}

void ServedPolicy::add_adapter(const std::string& name, const std::filesystem::path& folder) {
  if (name == name_ || adapters_.contains(name))
    throw Error("serve: two models have the name '{}'. Give the adapter {} another one.", name, folder.string());
  adapters_[name] = engine_.load_adapter(folder);
}

bool ServedPolicy::ends_turn(std::int32_t id) const {
  const std::vector<std::int32_t>& ends = folder_.config.eos_token_ids;
  return std::find(ends.begin(), ends.end(), id) != ends.end();
}

void ServedPolicy::require_readable(std::size_t bytes) const {
  constexpr std::size_t kMostShrinking = 3;  // factor by which NFC may shorten a text
  const std::size_t least = bytes / kMostShrinking / longest_token_;
  if (least > static_cast<std::size_t>(max_context()))
    throw past_context(
        fmt::format("This model's maximum context length is {} tokens, and the prompt has at least {} "
                    "({} bytes). Shorten the prompt.",
                    max_context(), least, bytes));
}

agents::EncodedPrompt ServedPolicy::encode(const std::vector<Message>& messages, std::string_view prefix,
                                           const agents::ChatInputs& inputs) {
  if (!inputs.tools.is_null() && !folder_.chat.takes_tools())
    throw Refused{{400,
                   fmt::format("the chat template of {} takes no tools. Describe them in a message, and read the calls "
                               "from the text.",
                               name_),
                   "unsupported_parameter", "tools"}};
  std::size_t bytes = prefix.size();
  for (const Message& message : messages)
    for (const Part& part : message.parts) bytes += part.text.size();
  require_readable(bytes);
  try {
    return agents::encode_prompt(messages, prefix, folder_.chat, *folder_.tokenizer, folder_.images, folder_.config,
                                 &pictures_, inputs);
  } catch (const Error& error) {
    const std::string_view why = error.what();
    if (why.find("the context of this model holds") != std::string_view::npos) throw past_context(std::string(why));
    // With template variables, either they or the messages may have made the template fail.
    throw Refused{{400, std::string(why), "invalid_value", inputs.variables.empty() ? "messages" : ""}};
  }
}

agents::EncodedPrompt ServedPolicy::encode(const TextPrompt& prompt) const {
  require_readable(prompt.text.size());
  agents::EncodedPrompt encoded;
  encoded.ids = prompt.token_ids.empty() ? folder_.tokenizer->encode(prompt.text) : prompt.token_ids;
  const agents::ModelConfig& config = folder_.config;
  for (const std::int32_t id : encoded.ids) {
    if (id < 0 || id >= config.text.vocab_size)
      throw refused("prompt",
                    fmt::format("token id {} is not in the model's vocabulary of {}.", id, config.text.vocab_size));
    if (config.shows(id))
      throw refused("prompt",
                    fmt::format("the prompt has the token {} of a picture, and /v1/completions takes none. Use "
                                "/v1/chat/completions.",
                                id));
  }
  return encoded;
}

std::vector<agents::TokenScores> ServedPolicy::score_prompts(const std::vector<agents::GenerationRequest>& requests,
                                                             int alternatives, const std::atomic<bool>& stop,
                                                             agents::Deadline deadline) {
  std::vector<agents::ScoringRequest> scorings;
  for (const agents::GenerationRequest& request : requests) {
    const std::vector<std::int32_t>& ids = request.prompt.ids;
    const auto behind_pictures =
        std::find_if(ids.rbegin(), ids.rend(), [&](std::int32_t id) { return folder_.config.shows(id); }).base();
    const auto first = std::max(behind_pictures, ids.begin() + 1);
    scorings.push_back(
        {{{ids.begin(), first}, request.prompt.images}, {first, ids.end()}, 1.0, alternatives, request.adapter});
  }
  agents::GenerationWatch watch{.cancelled = stop, .deadline = deadline};
  std::vector<agents::TokenScores> scores;
  try {
    scores = engine_.score(scorings, &watch);
  } catch (const Error&) {
    if (stop) throw cancelled();
    if (std::chrono::steady_clock::now() >= deadline) throw late();
    throw;
  }
  for (std::size_t i = 0; i < scores.size(); ++i) {
    agents::TokenScores& one = scores[i];
    const std::size_t unscored = scorings[i].prompt.ids.size();
    one.logprobs.insert(one.logprobs.begin(), unscored, std::numeric_limits<float>::quiet_NaN());
    if (alternatives > 0) one.alternatives.insert(one.alternatives.begin(), unscored, {});
  }
  return scores;
}

void ServedPolicy::require_room(const agents::EncodedPrompt& prompt, std::int64_t max_tokens) const {
  const std::int64_t context = max_context(), tokens = std::ssize(prompt.ids);
  if (tokens > context)
    throw past_context(
        fmt::format("This model's maximum context length is {} tokens, and the prompt has {}. Shorten "
                    "the prompt.",
                    context, tokens));
  if (max_tokens > context)
    throw past_context(
        fmt::format("This model's maximum context length is {} tokens, and max_tokens is {} (the prompt "
                    "has {}). Lower max_tokens.",
                    context, max_tokens, tokens));
}

}  // namespace agon::serve
