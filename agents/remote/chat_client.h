// agents/remote/chat_client.h - talks to one endpoint: adds its key and headers, keeps its limits, reads what comes
// back. Thread-safe.
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

// Where to end an answer that streams. An answer may begin by repeating `repeated`, in part or as a whole: a stop
// string in there does not count.
struct StreamEnd {
  std::vector<std::string> stops;
  std::string repeated;
};
// How much of it the text begins with.
std::size_t repeated_bytes(std::string_view text, std::string_view repeated);
// Where the first of the stop strings ends in the text, and which it is; npos: there is none.
std::pair<std::size_t, std::string> first_stop(std::string_view text, const std::vector<std::string>& stops);

struct ChatOutcome {
  ChatReply reply;
  int status = 0;
  bool is_broken_off = false;  // a stream that ended in the middle
  bool is_context = false;     // refused, since prompt and answer are longer than the context
  std::string fault;           // why there is no answer, without the key; empty: there is one
};

class ChatClient {
 public:
  // Throws Error where the environment lacks the variable of the key.
  explicit ChatClient(const Endpoint& endpoint, const net::QueueOptions& options);

  // Sends a request of /chat/completions, with a "prompt" of /completions; a stream that ends in the middle is asked
  // for again. `done` is called once, on another thread; it must not throw or take long. A body that streams is read as
  // it comes.
  using Done = std::function<void(ChatOutcome)>;
  net::RequestQueue::Number send(const Json& body, StreamEnd end, Done done);
  void cancel(net::RequestQueue::Number request) { queue_.cancel(request); }
  ChatOutcome ask(const Json& body);  // waits
  // GET of a path below the address: its body as JSON; discarded where there is none.
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
  net::RequestQueue queue_;  // ends first
};

}  // namespace agon::agents
