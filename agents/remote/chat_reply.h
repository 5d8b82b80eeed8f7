// agents/remote/chat_reply.h - reads what /v1/chat/completions and /v1/completions answer, whole or as a stream of
// events. Servers differ in much, and a hostile one may send anything: a field of another type counts as absent.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/policy.h"
#include "core/json.h"

namespace agon::agents {

// One answer, as a server gave it.
struct ChatAnswer {
  std::string text;
  std::string reasoning;      // that came in a field of its own
  std::string finish_reason;  // as it says; empty: it did not end
  std::string stop;           // the stop string that ended it, where the server says so
  // Of the tokens of the text, where the server tells them and they spell it.
  std::vector<std::string> tokens;
  std::vector<float> logprobs;
  std::vector<std::vector<std::pair<std::string, float>>> likeliest;  // of each token: the likeliest, as it lists them
  std::vector<std::int32_t> token_ids;
  int chunks = 0;        // events with text: of a stream
  bool is_told = false;  // there is a message or a text, be it empty
};

// A token of the prompt, where the server tells them.
struct PromptToken {
  std::string text;
  float logprob = 0;  // NaN: it has none
};

struct ChatUsage {
  int prompt_tokens = 0, completion_tokens = 0;  // of all answers together
  int cached_tokens = 0;                         // of the prompt
};

struct ChatReply {
  std::vector<ChatAnswer> answers;  // by index
  std::vector<PromptToken> prompt;  // prompt_logprobs: without the tokens that have none
  std::optional<ChatUsage> usage;
  std::string model;
  std::string fault;  // why it is not an answer; empty: it is
};

// Of the tokens at the end of the prompt that spell `ending`; the first may begin before it. Nothing where they do not
// spell it.
std::optional<std::vector<float>> ending_logprobs(const std::vector<PromptToken>& prompt, std::string_view ending);

// The tokens of the prompt that an answer begins with (echo), without what it wrote behind it.
std::vector<PromptToken> echoed_prompt(const ChatAnswer& answer, std::string_view prompt);

// The body of a reply with status 200.
ChatReply read_chat_reply(std::string_view body);

// The same from the events of a stream.
class ChatStream {
 public:
  // The data of one event. False: it is the last one ("[DONE]"), or a fault.
  bool take(std::string_view data);
  const ChatReply& reply() const { return reply_; }
  ChatReply& reply() { return reply_; }
  bool is_done() const { return done_; }
  bool is_untouched() const { return !touched_; }

 private:
  ChatReply reply_;
  bool done_ = false, touched_ = false;
};

// What a server says of a request that it refused, on one line: error.message, message, detail, or the text itself.
std::string error_text(std::string_view body);

}  // namespace agon::agents
