// Cost of the client for many requests to one server. benchmarks/peers/compare_requests runs both sides and the peers.
//   request_bench serve PORT                     answers each chat request after 50 ms, until SIGTERM
//   request_bench ask URL [REQUESTS [IN_FLIGHT]]  asks it, and prints one line of JSON
#include <fmt/format.h>
#include <sys/resource.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "agents/remote/remote_policy.h"
#include "net/http_server.h"

using namespace agon;

namespace {

constexpr int kMostInFlight = 1024;
std::atomic<bool> stopped = false;

int serve(int port) {
  const auto slow = [](const net::HttpServerRequest&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return net::HttpServerAnswer{
        200,
        R"({"object":"chat.completion","model":"slow","choices":[{"index":0,"message":{"role":"assistant",)"
        R"("content":"four"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":1}})",
        {}};
  };
  const auto models = [](const net::HttpServerRequest&) {
    return net::HttpServerAnswer{200, R"({"object":"list","data":[{"id":"slow","object":"model"}]})", {}};
  };
  net::HttpServerOptions options{.port = port, .threads = kMostInFlight};
  options.limits.connections = 2 * kMostInFlight;
  net::HttpServer server(options, {{"POST", "/v1/chat/completions", false, slow}, {"GET", "/v1/models", true, models}});
  std::signal(SIGTERM, [](int) { stopped = true; });
  server.run(stopped);
  return 0;
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

int ask(const std::string& url, int count, int in_flight) {
  agents::Endpoint endpoint;
  endpoint.url = url;
  endpoint.model = "slow";
  endpoint.max_in_flight = in_flight;
  endpoint.cache = agents::CacheUse::off;
  agents::RemotePolicy policy(endpoint);
  std::vector<agents::CompletionRequest> requests;
  for (int i = 0; i < count; ++i)
    requests.push_back({.messages = {{Role::user, {Part::of(fmt::format("What is {} + {}?", i, i))}, {}, {}}}});
  const double cpu = cpu_seconds();
  const auto start = std::chrono::steady_clock::now();
  const std::vector<agents::Completion> completions = policy.complete(requests);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  int right = 0;
  for (const agents::Completion& completion : completions) right += completion.text == "four";
  fmt::print(
      "{{\"client\": \"agon\", \"requests\": {}, \"in_flight\": {}, \"right\": {}, \"wall_s\": {:.3f}, "
      "\"cpu_s\": {:.3f}}}\n",
      count, in_flight, right, wall.count(), cpu_seconds() - cpu);
  return right == count ? 0 : 1;
}

int number_or(const char* text, int otherwise) {
  if (text == nullptr) return otherwise;
  const std::string_view digits = text;
  std::from_chars(digits.data(), digits.data() + digits.size(), otherwise);
  return otherwise;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view part = argc > 2 ? argv[1] : "";
  if (part == "serve") return serve(number_or(argv[2], 0));
  if (part == "ask")
    return ask(argv[2], number_or(argc > 3 ? argv[3] : nullptr, 2000), number_or(argc > 4 ? argv[4] : nullptr, 512));
  return std::fprintf(stderr, "usage: request_bench serve PORT | ask URL [REQUESTS [IN_FLIGHT]]\n"), 2;
}
