#include "serve/tokenize.h"

#include "core/text.h"
#include "serve/chat_tools.h"

namespace agon::serve {

Json answer_tokenize(const SortedJson& body, std::string_view text, ServedPolicy& policy, const PictureLimits& limits) {
  const RequestFields fields(body);
  if (fields.has("prompt") == fields.has("messages"))
    throw refused("prompt", "give either 'prompt', a text, or 'messages', a list.");
  const bool names = fields.flag("return_token_strs", false);
  std::vector<std::int32_t> ids;
  if (fields.has("messages")) {
    const bool opens = fields.flag("add_generation_prompt", true) || fields.flag("continue_final_message", false);
    const Conversation conversation =
        opens ? read_conversation(fields, limits) : Conversation{read_messages(fields, limits), {}};
    agents::ChatInputs inputs = read_template_inputs(fields, text);
    inputs.opens_turn = opens;
    ids = policy.encode(conversation.messages, conversation.prefix, inputs).ids;
  } else {
    const std::string prompt = fields.text("prompt", "");
    if (prompt.size() > kMostTextBytes)
      throw refused("prompt",
                    fmt::format("'prompt' has {} bytes; at most {} are possible.", prompt.size(), kMostTextBytes));
    ids = policy.tokenizer().encode(prompt);
  }
  Json answer{{"count", ids.size()}, {"max_model_len", policy.max_context()}, {"tokens", ids}, {"token_strs", nullptr}};
  if (!names) return answer;
  answer["token_strs"] = Json::array();
  for (const std::int32_t id : ids) answer["token_strs"].push_back(valid_utf8(policy.tokenizer().token_bytes(id)));
  return answer;
}

Json answer_detokenize(const SortedJson& body, const ServedPolicy& policy) {
  const RequestFields fields(body);
  const std::vector<std::int32_t> ids = fields.token_ids("tokens");
  for (const std::int32_t id : ids)
    if (id >= policy.tokenizer().vocab_size())
      throw refused("tokens", fmt::format("token id {} is not in the tokenizer's vocabulary of {}.", id,
                                          policy.tokenizer().vocab_size()));
  return {{"prompt", valid_utf8(policy.tokenizer().decode(ids, false))}};
}

}  // namespace agon::serve
