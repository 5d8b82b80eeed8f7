#include "agents/remote/prompt_text.h"

#include <fmt/format.h>

#include "core/error.h"

namespace agon::agents {
namespace {

// The model's template gets a mark in place of the turn, because it may drop white space or write the same words
// elsewhere. The empty expression keeps a newline at the start of the template. Servers may pass a turn as a list of
// parts.
std::string continuing(const std::string& jinja) {
  return fmt::format(
      "{{% set agon_turn = messages[-1].content %}}"
      "{{% set agon_mark = '{0}' if agon_turn is string else [{{'type': 'text', 'text': '{0}'}}] %}}"
      "{{% set agon_turn = agon_turn if agon_turn is string else agon_turn[0].text %}}"
      "{{% set messages = messages[:-1] + [{{'role': 'assistant', 'content': agon_mark}}] %}}"
      "{{% set agon_prompt %}}{{{{ '' }}}}{1}{{% endset %}}"
      "{{% set agon_parts = agon_prompt.rpartition('{0}') %}}"
      "{{% if not agon_parts[1] %}}{{{{ raise_exception('The chat template drops a turn that has begun.') }}}}{{% "
      "endif %}}"
      "{{{{ agon_parts[0] + agon_turn }}}}",
      "agon-turn-that-has-begun", jinja);
}

}  // namespace

PromptText::PromptText(const std::filesystem::path& folder)
    : parts_(open_text_folder(folder)), continuing_jinja_(continuing(parts_.chat.jinja())) {}

std::string PromptText::rendered(const std::vector<Message>& messages, std::string_view prefix,
                                 bool takes_pictures) const {
  std::string text;
  for (const PromptPiece& piece : parts_.chat.render(messages, prefix)) {
    if (piece.kind == PromptPiece::Kind::image && !takes_pictures)
      throw Error("policy: a turn behind pictures cannot be continued as a text of /v1/completions.");
    const bool is_turn = piece.kind == PromptPiece::Kind::tokens;
    text += is_turn ? parts_.tokenizer->decode(piece.token_ids, false, TextPlace::within) : piece.text;
  }
  return text;
}

std::string PromptText::of(const std::vector<Message>& messages, std::string_view prefix) const {
  const std::string text = rendered(messages, prefix, false);
  return !parts_.bos.empty() && text.starts_with(parts_.bos) ? text.substr(parts_.bos.size()) : text;
}

int PromptText::tokens(std::string_view text) const { return static_cast<int>(parts_.tokenizer->encode(text).size()); }

int PromptText::prompt_tokens(const std::vector<Message>& messages, std::string_view prefix) const {
  return tokens(rendered(messages, prefix, true));
}

}  // namespace agon::agents
