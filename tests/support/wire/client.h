// tests/support/wire/client.h - a connection to a server on the loopback that does only what the test tells it.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <iterator>
#include <string>
#include <string_view>

#include "soon.h"

namespace agon::test {

class WireClient {
 public:
  explicit WireClient(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  }
  ~WireClient() { ::close(socket_); }
  WireClient(const WireClient&) = delete;
  WireClient& operator=(const WireClient&) = delete;

  void say(std::string_view text) const { REQUIRE(can_say(text)); }
  // Whether all of the text could be sent. For a server that may close the connection, and for threads other than the
  // test's.
  bool can_say(std::string_view text) const {
    return ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) == std::ssize(text);
  }
  void say_no_more() const { ::shutdown(socket_, SHUT_WR); }
  // Reads until the text contains `end`. Appends "|closed" if the server closes first and "|silence" if the time runs
  // out. An empty `end` never comes.
  std::string hear(std::string_view end = {}, double seconds = kSoon) const {
    std::string heard;
    const auto start = Clock::now();
    while (seconds_since(start) < seconds) {
      pollfd ready{socket_, POLLIN, 0};
      if (::poll(&ready, 1, 50) <= 0) continue;
      char bytes[4096];
      const ssize_t size = ::recv(socket_, bytes, sizeof bytes, 0);
      if (size <= 0) return heard + "|closed";
      heard.append(bytes, static_cast<std::size_t>(size));
      if (!end.empty() && heard.find(end) != std::string::npos) return heard;
    }
    return heard + "|silence";
  }

 private:
  const int socket_;
};

}  // namespace agon::test
