#include "tools/retrieve_server.h"

#include <chrono>
#include <thread>

#include "tools/http.h"
#include "tools/retrieve_protocol.h"

namespace agon::tools {
namespace {

// How long an answer waits for the bytes that answers hold which their clients do not read.
constexpr auto kWaitForBytes = std::chrono::seconds(1);
constexpr auto kLook = std::chrono::milliseconds(20);

}  // namespace

struct RetrieveServer::Implementation {
  Implementation(std::shared_ptr<SearchBackend> search, const RetrieveServerOptions& wanted)
      : backend(std::move(search)),
        options(wanted),
        server({options.host, options.port, options.threads, options.most_request_bytes, options.limits},
               {{"POST", "/retrieve", false, [this](const HttpServerRequest& request) { return retrieve(request); }},
                {"GET", "/health", true, [this](const HttpServerRequest&) { return health(); }}}) {}

  HttpServerAnswer health() const {
    const Json state{{"status", "healthy"}, {"search", backend->identity()}};
    return {200, state.dump(-1, ' ', false, Json::error_handler_t::replace), {}};
  }

  HttpServerAnswer retrieve(const HttpServerRequest& request) {
    ++answered;
    const HttpStop stop(request.stop);
    ByteBudget::Lease held(request.budget);
    const auto end = std::chrono::steady_clock::now() + kWaitForBytes;
    const auto hold = [&](std::size_t bytes) {
      while (!held.resize(bytes)) {
        if (request.stop || std::chrono::steady_clock::now() >= end) return false;
        std::this_thread::sleep_for(kLook);
      }
      return true;
    };
    RetrieveAnswer reply = answer_retrieve(
        *backend, request.body, {options.seconds - request.waited, options.most_answer_bytes, &request.stop, hold});
    held.resize(reply.body.size());  // fewer, where it is a refusal
    return {reply.status, std::move(reply.body), std::move(held)};
  }

  const std::shared_ptr<SearchBackend> backend;
  const RetrieveServerOptions options;
  std::atomic<std::int64_t> answered = 0;
  HttpServer server;  // last: its threads use the others
};

RetrieveServer::RetrieveServer(std::shared_ptr<SearchBackend> backend, const RetrieveServerOptions& options)
    : implementation_(std::make_unique<Implementation>(std::move(backend), options)) {}
RetrieveServer::~RetrieveServer() = default;

int RetrieveServer::port() const { return implementation_->server.port(); }
std::int64_t RetrieveServer::answered() const { return implementation_->answered; }
void RetrieveServer::run(const std::atomic<bool>& stop) { implementation_->server.run(stop); }

}  // namespace agon::tools
