// agents/remote/chat_client.h - the HTTP client for one endpoint: adds its key and headers, observes its limits, and
// parses the replies. Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agents/remote/chat_reply.h"
#include "agents/remote/endpoint.h"
#include "core/json.h"
#include "net/redaction.h"
#include "net/request_queue.h"

namespace agon::agents {

// Where to end a streamed answer. The answer may begin by repeating all or part of `repeated`; stop strings in the
// repeated part do not count.
struct StreamEnd {
  std::vector<std::string> stops;
  std::string repeated;
};
// Number of bytes of `repeated` with which the text begins.
std::size_t repeated_bytes(std::string_view text, std::string_view repeated);
// The end of the first stop string in the text, and that string; npos: there is none.
std::pair<std::size_t, std::string> first_stop(std::string_view text, const std::vector<std::string>& stops);

struct ChatOutcome {
  ChatReply reply;
  int status = 0;
  bool is_broken_off = false;  // a stream ended in the middle of an answer
  bool is_context = false;     // refused because prompt and answer exceed the context
  std::string fault;           // why there is no answer, with the key redacted; empty: success
};

class ChatClient {
 public:
  // Throws Error if the key's environment variable is not set.
  explicit ChatClient(const Endpoint& endpoint, const net::QueueOptions& options);

  // Sends a request to /chat/completions, or to /completions if the body has a "prompt". A stream that ends in the
  // middle is requested again. `done` is called once, on another thread; it must not throw or take long. If the body
  // asks for a stream, the reply is parsed as it arrives.
  using Done = std::function<void(ChatOutcome)>;
  net::RequestQueue::Number send(const Json& body, StreamEnd end, Done done);
  void cancel(net::RequestQueue::Number request) { queue_.cancel(request); }
  ChatOutcome ask(const Json& body);  // waits for the outcome
  // The body of a GET of a path below the address, as JSON; a discarded value if there is none.
  Json get(const std::string& path);

  const Endpoint& endpoint() const { return endpoint_; }
  bool is_gone() const { return queue_.is_gone(); }
  net::QueueFigures figures() const { return queue_.figures(); }

 private:
  struct Exchange;
  net::HttpRequest request(const std::string& path) const;
  net::RequestQueue::Number start(const std::shared_ptr<Exchange>& exchange);
  ChatOutcome outcome_of(Exchange& exchange, const net::HttpReply& http) const;

  const Endpoint endpoint_;
  const net::Redactor key_;
  net::RequestQueue queue_;  // destroyed first
};

}  // namespace agon::agents
