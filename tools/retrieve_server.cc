#include "tools/retrieve_server.h"

#include <httplib.h>
#include <sys/socket.h>

#include <chrono>
#include <thread>

#include "core/error.h"
#include "tools/json_text.h"
#include "tools/retrieve_protocol.h"

namespace agon::tools {
namespace {

constexpr int kWaitingConnections = 1024;
constexpr auto kLook = std::chrono::milliseconds(20);  // how often the wish to stop is looked at

void answer(httplib::Response& response, int status, const std::string& body) {
  response.status = status;
  response.set_content(body, "application/json");
}

std::string error_body(const std::string& why) {
  return SortedJson{{"error", why}}.dump(-1, ' ', false, SortedJson::error_handler_t::replace);
}

bool has_body(const httplib::Request& request) {
  return request.has_header("Content-Length") || request.has_header("Transfer-Encoding");
}

// The body of a request, which the library itself does not bound where it comes in chunks. False: it is too long, or
// broke off.
bool read_body(const httplib::ContentReader& reader, std::size_t most, std::string& body) {
  return reader([&](const char* data, std::size_t size) {
    if (body.size() + size > most) return false;
    body.append(data, size);
    return true;
  });
}

}  // namespace

struct RetrieveServer::Implementation {
  Implementation(std::shared_ptr<SearchBackend> search, const RetrieveServerOptions& wanted)
      : backend(std::move(search)), options(wanted) {
    server.new_task_queue = [threads = options.threads] {
      return new httplib::ThreadPool(static_cast<std::size_t>(threads));
    };
    server.set_payload_max_length(options.most_request_bytes);
    server.set_keep_alive_max_count(1'000'000);
    server.set_keep_alive_timeout(2);
    server.set_tcp_nodelay(true);
    server.set_socket_options([this](socket_t socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
      listener = socket;
    });
    add_handlers();
    listen();
  }

  void add_handlers() {
    server.Post("/retrieve", [this](const httplib::Request& request, httplib::Response& response,
                                    const httplib::ContentReader& reader) { retrieve(request, response, reader); });
    server.Get("/health", [this](const httplib::Request&, httplib::Response& response) {
      answer(response, 200, Json{{"status", "healthy"}, {"search", backend->identity()}}.dump());
    });
    server.set_error_handler([](const httplib::Request&, httplib::Response& response) {
      if (response.body.empty())
        answer(response, response.status, error_body("There are POST /retrieve and GET /health."));
    });
  }

  void listen() {
    const bool bound = options.port == 0 ? (port = server.bind_to_any_port(options.host)) > 0
                                         : server.bind_to_port(options.host, port = options.port);
    if (!bound)
      throw Error("{}:{}: cannot be listened on. Is another server there? Choose another --host or --port.",
                  options.host, options.port);
    ::listen(listener, kWaitingConnections);  // the library's own queue holds five
  }

  void retrieve(const httplib::Request& request, httplib::Response& response, const httplib::ContentReader& reader) {
    ++answered;
    std::string body;
    if (has_body(request) && !read_body(reader, options.most_request_bytes, body))
      return answer(
          response, 413,
          error_body(fmt::format("the request is larger than {} bytes, or broke off", options.most_request_bytes)));
    try {
      const RetrieveAnswer reply = answer_retrieve(*backend, body, options.seconds);
      answer(response, reply.status, reply.body);
    } catch (const std::exception& error) {
      answer(response, 500, error_body(error.what()));
    }
  }

  const std::shared_ptr<SearchBackend> backend;
  const RetrieveServerOptions options;
  httplib::Server server;
  socket_t listener = INVALID_SOCKET;
  int port = 0;
  std::atomic<std::int64_t> answered = 0;
};

RetrieveServer::RetrieveServer(std::shared_ptr<SearchBackend> backend, const RetrieveServerOptions& options)
    : implementation_(std::make_unique<Implementation>(std::move(backend), options)) {}
RetrieveServer::~RetrieveServer() = default;

int RetrieveServer::port() const { return implementation_->port; }
std::int64_t RetrieveServer::answered() const { return implementation_->answered; }

void RetrieveServer::run(const std::atomic<bool>& stop) {
  std::jthread watcher([&](const std::stop_token& done) {
    while (!done.stop_requested()) {
      if (stop && implementation_->server.is_running()) implementation_->server.stop();
      std::this_thread::sleep_for(kLook);
    }
  });
  implementation_->server.listen_after_bind();
}

}  // namespace agon::tools
