// tests/support/wire/post.h - makes a request to a server of wire/server.h.
#pragma once

#include <string>
#include <utility>

#include "net/http_client.h"
#include "wire/server.h"

namespace agon::test {

inline net::HttpRequest post_to(const WireServer& server, std::string body, double seconds = 20) {
  return {server.url("/x"), {"X-Test: 1"}, std::move(body), seconds};
}

}  // namespace agon::test
