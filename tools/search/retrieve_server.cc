#include "tools/search/retrieve_server.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "net/http_client.h"
#include "tools/search/retrieve_protocol.h"

namespace agon::tools {
namespace {

// How long an answer waits for memory that is held by answers whose clients do not read them.
constexpr auto kWaitForBytes = std::chrono::seconds(1);
constexpr auto kLook = std::chrono::milliseconds(20);
// While it is parsed, a request holds kTimesRead times its bytes, but at most 1 / kLargestPart of all bytes.
constexpr std::size_t kTimesRead = 8;
constexpr std::size_t kLargestPart = 2;

net::HttpServerAnswer retrieve(SearchBackend& backend, const RetrieveServerOptions& options,
                               const net::HttpServerRequest& request) {
  const net::HttpStop stop(request.stop);
  net::ByteBudget::Lease held(request.budget);
  const auto end = std::chrono::steady_clock::now() + kWaitForBytes;
  const auto hold = [&](std::size_t bytes) {
    while (!held.resize(bytes)) {
      if (request.stop || std::chrono::steady_clock::now() >= end) return false;
      std::this_thread::sleep_for(kLook);
    }
    return true;
  };
  if (!hold(std::min(kTimesRead * request.body.size(), options.limits.most_held_bytes / kLargestPart)))
    return {503, net::http_error_body(kTooMany), {}};
  const auto hold_answer = [&](std::size_t bytes) { return hold(bytes + request.body.size()); };
  RetrieveAnswer reply = answer_retrieve(
      backend, request.body, {options.seconds - request.waited, options.most_answer_bytes, &request.stop, hold_answer});
  held.resize(std::min(held.bytes(), reply.body.size()));
  return {reply.status, std::move(reply.body), std::move(held)};
}

}  // namespace

net::HttpRoute retrieve_route(std::shared_ptr<SearchBackend> backend, const RetrieveServerOptions& options,
                              std::atomic<std::int64_t>* answered) {
  return {"POST", "/retrieve", false,
          [backend = std::move(backend), options, answered](const net::HttpServerRequest& request) {
            if (answered) ++*answered;
            return retrieve(*backend, options, request);
          }};
}

struct RetrieveServer::Implementation {
  Implementation(std::shared_ptr<SearchBackend> search, const RetrieveServerOptions& wanted)
      : backend(std::move(search)),
        server({wanted.host, wanted.port, wanted.threads, wanted.most_request_bytes, wanted.limits},
               {retrieve_route(backend, wanted, &answered),
                {"GET", "/health", true, [this](const net::HttpServerRequest&) { return health(); }}}) {}

  net::HttpServerAnswer health() const {
    const Json state{{"status", "healthy"}, {"search", backend->identity()}};
    return {200, to_text(state), {}};
  }

  const std::shared_ptr<SearchBackend> backend;
  std::atomic<std::int64_t> answered = 0;
  net::HttpServer server;  // last member: its threads use the others
};

RetrieveServer::RetrieveServer(std::shared_ptr<SearchBackend> backend, const RetrieveServerOptions& options)
    : implementation_(std::make_unique<Implementation>(std::move(backend), options)) {}
RetrieveServer::~RetrieveServer() = default;

int RetrieveServer::port() const { return implementation_->server.port(); }
std::int64_t RetrieveServer::answered() const { return implementation_->answered; }
void RetrieveServer::run(const std::atomic<bool>& stop) { implementation_->server.run(stop); }

}  // namespace agon::tools
