#include "serving_fixture.h"

#include <httplib.h>

#include <catch2/catch.hpp>
#include <csignal>

#include "core/base64.h"
#include "paths.h"

namespace agon::test {
namespace {

serve::ModelServerOptions with_any_port(serve::ModelServerOptions options) {
  options.port = 0;
  return options;
}

}  // namespace

const std::filesystem::path& tiny() {
  static const std::filesystem::path kFolder = source_path("models/agon-tiny");
  return kFolder;
}

std::shared_ptr<serve::ServedPolicy> tiny_policy() {
  static const auto kPolicy = std::make_shared<serve::ServedPolicy>(tiny(), agents::EngineOptions{});
  return kPolicy;
}

Serving::Serving(serve::ModelServerOptions options, serve::ServedModels models)
    : server(std::move(models), with_any_port(std::move(options))),
      thread([this] { server.run(stop); }),
      connection(std::make_unique<httplib::Client>("127.0.0.1", server.port())) {
  std::signal(SIGPIPE, SIG_IGN);
  client.set_read_timeout(60);
}

Serving::~Serving() {
  stop = true;
  thread.join();
}

std::pair<int, Json> Serving::post(const std::string& path, const std::string& body) {
  const auto reply = client.Post(path, body, "application/json");
  INFO(path << ": " << httplib::to_string(reply.error()));
  REQUIRE(reply);
  return {reply->status, Json::parse(reply->body)};
}

Json Serving::answer(const std::string& path, const Json& body) {
  const auto [status, json] = post(path, body.dump());
  INFO(json.dump());
  REQUIRE(status == 200);
  return json;
}

Json Serving::refusal(const std::string& path, const std::string& body, int status) {
  const auto [got, json] = post(path, body);
  INFO(json.dump());
  CHECK(got == status);
  CHECK(json["error"]["message"].is_string());
  CHECK(json["error"]["type"].is_string());
  CHECK(json["error"].contains("code"));
  return json["error"];
}

double Serving::metric(const std::string& name) {
  const auto reply = client.Get("/metrics");
  REQUIRE(reply);
  const std::size_t at = reply->body.find("\n" + name + " ");
  REQUIRE(at != std::string::npos);
  return std::stod(reply->body.substr(at + name.size() + 2));
}

Json chat(const std::string& text, Json more) {
  more["messages"] = Json::array({{{"role", "user"}, {"content", text}}});
  if (!more.contains("temperature")) more["temperature"] = 0;
  if (!more.contains("max_tokens")) more["max_tokens"] = 12;
  return more;
}

Json picture_part(const Image& picture) {
  const std::string url = "data:image/png;base64," + base64(encode_image(picture, ImageFormat::png));
  return {{"type", "image_url"}, {"image_url", {{"url", url}}}};
}

std::string posted(const std::string& path, const Json& body, const std::string& headers) {
  const std::string text = body.dump();
  return fmt::format("POST {} HTTP/1.1\r\nHost: x\r\n{}Content-Length: {}\r\n\r\n{}", path, headers, text.size(), text);
}

}  // namespace agon::test
