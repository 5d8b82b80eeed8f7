#include "serve/completion_request.h"

#include <algorithm>
#include <limits>

namespace agon::serve {
namespace {

constexpr int kDefaultTokens = 16;  // as in OpenAI's API
constexpr std::size_t kMostChoices = 512;

TextPrompt prompt_of(const SortedJson& json, const std::string& name) {
  TextPrompt prompt;
  if (json.is_string())
    prompt.text = json.get<std::string>();
  else
    prompt.token_ids = token_ids_in(json, name);
  if (prompt.text.empty() && prompt.token_ids.empty()) throw refused(name, fmt::format("'{}' is empty.", name));
  return prompt;
}

std::vector<TextPrompt> prompts_of(const SortedJson& json) {
  if (json.is_null()) throw refused("prompt", "'prompt' is missing: a text, token ids, or a list of either.");
  const bool is_one = json.is_string() || (json.is_array() && !json.empty() && json.front().is_number());
  if (is_one) return {prompt_of(json, "prompt")};
  if (!json.is_array() || json.empty())
    throw refused("prompt", fmt::format("'prompt' is {}, not a text, token ids, or a list of either.", shown(json)));
  std::vector<TextPrompt> prompts;
  if (json.size() > kMostChoices)
    throw refused("prompt",
                  fmt::format("'prompt' has {} prompts; at most {} are possible.", json.size(), kMostChoices));
  for (std::size_t i = 0; i < json.size(); ++i) prompts.push_back(prompt_of(json[i], fmt::format("prompt[{}]", i)));
  return prompts;
}

TextCall text_call(const SortedJson& body) {
  const RequestFields fields(body);
  refuse_unsupported(fields);
  for (const char* of_chats : {"tools", "chat_template_kwargs"})
    if (fields.has(of_chats) && !fields.at(of_chats).empty())
      throw refused(of_chats, fmt::format("'{}' is for chats. Use /v1/chat/completions.", of_chats));
  TextCall call;
  call.answer = read_answer_options(fields);
  call.answer.echo = fields.flag("echo", false);
  call.answer.logprobs = fields.has("logprobs");
  call.answer.top_logprobs = static_cast<int>(fields.whole("logprobs", 0, kMostTopLogprobs, 0));
  call.n = read_samples(fields);
  call.sampling = read_sampling(fields);
  call.sampling.alternatives = call.answer.top_logprobs;
  call.sampling.max_tokens = static_cast<int>(
      fields.whole("max_tokens", call.answer.echo ? 0 : 1, std::numeric_limits<int>::max(), kDefaultTokens));
  call.prompts = prompts_of(fields.at("prompt"));
  if (call.prompts.size() * static_cast<std::size_t>(call.n) > kMostChoices)
    throw refused("n", fmt::format("{} prompts with {} samples each are more than {} choices.", call.prompts.size(),
                                   call.n, kMostChoices));
  return call;
}

}  // namespace

Checked<TextCall> read_text_call(const SortedJson& body) {
  return checked([&] { return text_call(body); });
}

}  // namespace agon::serve
