// agents/remote/chat_reply.h - parses replies of /v1/chat/completions and /v1/completions, whole or as a stream of
// events. Servers differ, and a malicious one may send anything, so a field of an unexpected type counts as absent.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/policy.h"
#include "core/json.h"

namespace agon::agents {

// One answer, as the server sent it.
struct ChatAnswer {
  std::string text;
  std::string reasoning;      // if sent in a separate field
  std::string finish_reason;  // as the server reports it; empty: the answer did not end
  std::string stop;           // the stop string that ended it, if the server reports it
  // Tokens of the text and their log-probabilities, if the server reports them.
  std::vector<std::string> tokens;
  std::vector<float> logprobs;
  std::vector<std::vector<std::pair<std::string, float>>> likeliest;  // of each token, in the server's order
  std::vector<std::int32_t> token_ids;
  int chunks = 0;        // number of messages or stream events with text
  bool is_told = false;  // the reply has a message or a text, even if it is empty
};

// A token of the prompt, if the server reports them.
struct PromptToken {
  std::string text;
  float logprob = 0;  // NaN: none
};

struct ChatUsage {
  int prompt_tokens = 0, completion_tokens = 0;  // sum over all answers
  int cached_tokens = 0;                         // tokens of the prompt that were cached
};

struct ChatReply {
  std::vector<ChatAnswer> answers;  // by index
  std::vector<PromptToken> prompt;  // from prompt_logprobs, without the tokens that have none
  std::optional<ChatUsage> usage;
  std::string model;
  std::string fault;  // why the reply has no answer; empty: it has one
};

// Log-probabilities of the tokens at the end of the prompt that spell `ending`; the first token may begin before it.
// nullopt if they do not spell it.
std::optional<std::vector<float>> ending_logprobs(const std::vector<PromptToken>& prompt, std::string_view ending);

// The tokens of the prompt with which an answer begins (echo), without those generated after it.
std::vector<PromptToken> echoed_prompt(const ChatAnswer& answer, std::string_view prompt);

// Parses the body of a reply with status 200.
ChatReply read_chat_reply(std::string_view body);

// Parses a reply from the events of a stream.
class ChatStream {
 public:
  // Takes the data of one event. Returns false if it is the last one ("[DONE]") or faulty.
  bool take(std::string_view data);
  const ChatReply& reply() const { return reply_; }
  ChatReply& reply() { return reply_; }
  bool is_done() const { return done_; }
  bool is_untouched() const { return !touched_; }

 private:
  ChatReply reply_;
  bool done_ = false, touched_ = false;
};

// A server's reason for refusing a request, on one line: error.message, message, detail, or the body itself.
std::string error_text(std::string_view body);

}  // namespace agon::agents
