// tests/support/serving_fixture.h - a server of models for as long as a test wants it, and what its clients
// say.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "core/json.h"
#include "core/pictures/image.h"
#include "serve/model_server.h"

namespace httplib {
class Client;
}

namespace agon::test {

const std::filesystem::path& tiny();                 // models/agon-tiny
std::shared_ptr<serve::ServedPolicy> tiny_policy();  // one for all tests

// Serves as long as it lives.
struct Serving {
  explicit Serving(serve::ModelServerOptions options = {}, serve::ServedModels models = {.policy = tiny_policy()});
  ~Serving();
  std::pair<int, Json> post(const std::string& path, const std::string& body);  // the status, the answer
  Json answer(const std::string& path, const Json& body);                       // REQUIREs a 200
  // CHECKs the status and OpenAI's form; what stands in "error".
  Json refusal(const std::string& path, const std::string& body, int status = 400);
  double metric(const std::string& name);

  std::atomic<bool> stop = false;
  serve::ModelServer server;
  std::thread thread;
  const std::unique_ptr<httplib::Client> connection;
  httplib::Client& client = *connection;
};

// A request body of one message; at temperature 0 and of 12 tokens unless `more` has its own.
Json chat(const std::string& text, Json more = Json::object());
Json picture_part(const Image& picture);

// A whole POST, as it goes over the wire.
std::string posted(const std::string& path, const Json& body, const std::string& headers = "");

}  // namespace agon::test
