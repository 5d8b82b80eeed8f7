// tests/support/fake_server.h - an HTTP server on the loopback that answers as a test says, in a thread of its own.
#pragma once

#include <httplib.h>

#include <functional>
#include <string>
#include <thread>

namespace agon::test {

class FakeServer {
 public:
  using Handler = std::function<void(const httplib::Request&, httplib::Response&)>;
  explicit FakeServer(Handler handler) {
    server_.Get(".*", handler);
    server_.Post(".*", handler);
    server_.set_keep_alive_max_count(1);  // or an idle connection would hold up the end
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::jthread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  ~FakeServer() { server_.stop(); }
  std::string url(const std::string& path = "") const { return "http://127.0.0.1:" + std::to_string(port_) + path; }

 private:
  httplib::Server server_;
  int port_ = 0;
  std::jthread thread_;
};

}  // namespace agon::test
