#include "agents/remote/chat_client.h"

#include <algorithm>
#include <future>
#include <utility>

#include "core/error.h"
#include "core/json_parse.h"
#include "core/text.h"
#include "net/sse.h"
#include "net/url.h"

namespace agon::agents {
namespace {

constexpr std::size_t kMostBytes = 256u << 20;  // of a reply, with log-probabilities of many long answers
constexpr std::size_t kMostEvent = 16u << 20;
constexpr int kTries = 3;

bool speaks_of_context(std::string_view body) {
  const std::string text = to_lower(body.substr(0, 4096));
  const auto has = [&](std::string_view words) { return text.find(words) != std::string::npos; };
  return has("context_length_exceeded") || has("exceed_context_size") ||
         (has("context") && (has("maximum") || has("exceed") || has("too long") || has("longer than"))) ||
         has("prompt is too long") || has("max_model_len");
}

}  // namespace

std::size_t repeated_bytes(std::string_view text, std::string_view repeated) {
  const auto [end, of] = std::mismatch(text.begin(), text.end(), repeated.begin(), repeated.end());
  return static_cast<std::size_t>(end - text.begin());
}

std::pair<std::size_t, std::string> first_stop(std::string_view text, const std::vector<std::string>& stops) {
  std::pair<std::size_t, std::string> first{std::string_view::npos, ""};
  std::size_t begin = std::string_view::npos;
  for (const std::string& stop : stops)
    if (const std::size_t at = text.find(stop); at < begin) {
      begin = at;
      first = {at + stop.size(), stop};
    }
  return first;
}

struct ChatClient::Exchange {
  std::string body;
  const char* path = "/chat/completions";
  bool streams = false;
  StreamEnd end;
  Done done;
  net::EventStream events;
  ChatStream stream;
  std::string whole;      // the reply of a server that does not stream
  bool has_stop = false;  // the answer has reached a stop string
  int tries = 0;          // number of streams that ended in the middle

  net::HttpClient::Bytes new_bytes(const std::shared_ptr<Exchange>& self) {
    events = {};
    stream = {};
    whole.clear();
    has_stop = false;
    return [self](std::string_view part) { return self->take(part); };
  }
  bool take(std::string_view part) {
    const bool begins = stream.is_untouched() && events.held() == 0;
    if (!whole.empty() || (begins && trim(part).starts_with('{'))) {
      whole += part;
      return true;
    }
    bool goes_on = true;
    events.feed(part, [&](std::string_view data) { goes_on = goes_on && take_event(data); });
    return goes_on && events.held() <= kMostEvent;
  }
  bool take_event(std::string_view data) {
    if (!stream.take(data)) return stream.is_done();  // false would close the connection and prevent its reuse
    const auto& answers = stream.reply().answers;
    const std::string_view text = answers.empty() ? "" : std::string_view(answers.front().text);
    has_stop = first_stop(text.substr(repeated_bytes(text, end.repeated)), end.stops).first != std::string::npos;
    return !has_stop;
  }
};

ChatClient::ChatClient(const Endpoint& endpoint, const net::QueueOptions& options)
    : endpoint_(endpoint),
      key_(net::key_in_environment(endpoint.key_env, "policy: the key of " + endpoint.name())),
      queue_(options) {}

net::HttpRequest ChatClient::request(const std::string& path) const {
  net::HttpRequest request;
  request.url = endpoint_.url + path;
  request.seconds = endpoint_.timeout;
  request.most_bytes = kMostBytes;
  if (!key_.key().empty()) request.headers.push_back("Authorization: Bearer " + key_.key());
  for (const auto& [name, value] : endpoint_.headers) request.headers.push_back(name + ": " + value);
  return request;
}

net::RequestQueue::Number ChatClient::send(const Json& body, StreamEnd end, Done done) {
  auto exchange = std::make_shared<Exchange>();
  exchange->body = to_text(body);
  if (body.contains("prompt")) exchange->path = "/completions";
  exchange->streams = body.value("stream", false);
  exchange->end = std::move(end);
  exchange->done = std::move(done);
  return start(exchange);
}

net::RequestQueue::Number ChatClient::start(const std::shared_ptr<Exchange>& exchange) {
  net::HttpRequest http = request(exchange->path);
  http.headers.emplace_back("Content-Type: application/json");
  http.body = exchange->body;
  std::function<net::HttpClient::Bytes()> new_bytes;
  if (exchange->streams) new_bytes = [exchange] { return exchange->new_bytes(exchange); };
  const auto finish = [this, exchange](const net::HttpReply& reply) {
    ChatOutcome outcome = outcome_of(*exchange, reply);
    if (outcome.is_broken_off && ++exchange->tries < kTries)
      start(exchange);
    else
      exchange->done(std::move(outcome));
  };
  return queue_.send(std::move(http), finish, std::move(new_bytes));
}

ChatOutcome ChatClient::outcome_of(Exchange& exchange, const net::HttpReply& http) const {
  ChatOutcome outcome;
  outcome.status = http.status;
  const std::string address = net::public_url(endpoint_.url);
  const auto fail = [&](const std::string& why) { outcome.fault = key_.redacted(address + " " + why); };
  const bool is_whole = !exchange.streams || !exchange.whole.empty();
  if (!is_whole && http.status == 200 && (exchange.has_stop || http.fault.empty())) {
    outcome.reply = std::move(exchange.stream.reply());
    const bool ends = exchange.has_stop || exchange.stream.is_done() ||
                      (!outcome.reply.answers.empty() && !outcome.reply.answers.front().finish_reason.empty());
    if (!outcome.reply.fault.empty())
      fail("broke its stream off: " + outcome.reply.fault);
    else if (outcome.reply.answers.empty() || !outcome.reply.answers.front().is_told)
      fail("sent a stream without an answer.");
    else if (!ends)
      fail("ended its stream in the middle of an answer.");
    outcome.is_broken_off = outcome.reply.fault.empty() && !outcome.fault.empty();
  } else if (http.stopped) {
    fail("was stopped.");
  } else if (!http.fault.empty()) {
    fail("does not answer: " + http.fault);
  } else if (http.status != 200) {
    outcome.is_context =
        (http.status == 400 || http.status == 413 || http.status == 422) && speaks_of_context(http.body);
    fail(fmt::format("refused a request with status {}: {}", http.status, error_text(http.body)));
  } else {
    outcome.reply = read_chat_reply(exchange.streams ? exchange.whole : http.body);
    if (!outcome.reply.fault.empty()) fail("is not understood: " + outcome.reply.fault);
  }
  if (key_.is_rare())
    for (ChatAnswer& answer : outcome.reply.answers) {
      answer.text = key_.redacted(answer.text);
      answer.reasoning = key_.redacted(answer.reasoning);
    }
  return outcome;
}

ChatOutcome ChatClient::ask(const Json& body) {
  const auto promise = std::make_shared<std::promise<ChatOutcome>>();
  auto outcome = promise->get_future();
  const auto number = send(body, {}, [promise](ChatOutcome got) { promise->set_value(std::move(got)); });
  while (outcome.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready)
    if (net::HttpStop::is_set()) cancel(number);
  return outcome.get();
}

Json ChatClient::get(const std::string& path) {
  net::HttpRequest http = request(path);
  http.seconds = std::min(http.seconds, 30.0);
  const net::HttpReply reply = net::http_request(http);
  return reply.fault.empty() && reply.status == 200 ? json_or_discarded(reply.body) : Json(Json::value_t::discarded);
}

}  // namespace agon::agents
