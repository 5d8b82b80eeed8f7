#include "agents/remote/endpoint.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "core/error.h"
#include "error_of.h"
#include "temp_folder.h"

using namespace agon;
using namespace agon::agents;
using Catch::Contains;

namespace {

std::string error_of(const std::string& yaml) {
  const test::TempFolder folder;
  const std::string file = (folder / "policy.yaml").string();
  std::ofstream(file) << yaml;
  return test::error_of([&] { read_endpoint(file); });
}

}  // namespace

TEST_CASE("an address names a server, with the model behind '#'") {
  for (const char* text : {"http://h:8000/v1", "http://h:8000/v1/", "http://h:8000/v1/chat/completions"}) {
    CAPTURE(text);
    CHECK(read_endpoint(text).url == "http://h:8000/v1");
    CHECK(read_endpoint(text).model == "");
  }
  const Endpoint named = read_endpoint("https://h/v1#Qwen/Qwen2.5-VL-7B-Instruct");
  CHECK(named.url == "https://h/v1");
  CHECK(named.model == "Qwen/Qwen2.5-VL-7B-Instruct");
  CHECK(named.name() == "Qwen/Qwen2.5-VL-7B-Instruct");
  CHECK(!names_endpoint("models/agon-tiny"));
  CHECK(names_endpoint("policy.yaml"));
}

TEST_CASE("an address that is none, or holds a password or a query, is refused without showing it") {
  for (const char* text : {"ftp://h/v1", "http://", "://h"}) CHECK_THROWS_AS(read_endpoint(text), Error);
  for (const char* text : {"http://user:secret@h/v1", "http://h/v1?key=secret"}) {
    CAPTURE(text);
    const std::string error = test::error_of([&] { read_endpoint(text); });
    CHECK_THAT(error, !Contains("secret"));
    CHECK_THAT(error, Contains("key_env"));
  }
}

TEST_CASE("a YAML file describes a server") {
  const test::TempFolder folder;
  const std::string file = (folder / "policy.yaml").string();
  std::ofstream(file)
      << ("url: http://h:8000/v1\nmodel: m\nkey_env: MY_KEY\nheaders: {X-Team: a}\nextra_body: {top_k: 5}\n"
          "max_in_flight: 7\ntimeout: 30\nimages: file_url\nreasoning: keep\ncontinue: prefill\ncontext: 100\n"
          "price: {input: 0.5, output: 2}\ntokenizer: parts\n");
  const Endpoint endpoint = read_endpoint(file);
  CHECK(endpoint.model == "m");
  CHECK(endpoint.key_env == "MY_KEY");
  CHECK(endpoint.headers.at("X-Team") == "a");
  CHECK(endpoint.extra_body.at("top_k") == 5);
  CHECK((endpoint.max_in_flight == 7 && endpoint.timeout == 30 && endpoint.context == 100));
  CHECK((endpoint.images == PictureForm::file_url && endpoint.keep_reasoning));
  CHECK(endpoint.continuing == Continuing::prefill);
  CHECK(endpoint.tokenizer == (folder / "parts").string());
  CHECK((endpoint.price->input == 0.5 && endpoint.price->output == 2));
  const std::string record = to_json(endpoint).dump();
  CHECK_THAT(record, !Contains("MY_KEY") && !Contains("\"a\""));
}

TEST_CASE("what is wrong in such a file is named") {
  CHECK_THAT(error_of("model: m\n"), Contains("'url' is missing"));
  CHECK_THAT(error_of("url: http://h/v1\nmodle: m\n"), Contains("modle"));
  CHECK_THAT(error_of("url: http://h/v1\nimages: png\n"), Contains("images") && Contains("data_url"));
  CHECK_THAT(error_of("url: http://h/v1\nmax_in_flight: 0\n"), Contains("max_in_flight") && Contains("0"));
  CHECK_THAT(error_of("url: http://h/v1\ntimeout: -1\n"), Contains("timeout"));
  CHECK_THAT(error_of("url: http://h/v1\nextra_body: {messages: []}\n"), Contains("'messages'"));
  CHECK_THAT(error_of("url: http://h/v1\nheaders: {Authorization: Bearer x}\n"), Contains("key_env"));
  CHECK_THAT(error_of("url: http://h/v1\nheaders: {\"a b\": x}\n"), Contains("not a header"));
  CHECK_THAT(error_of("url: http://h/v1\nprice: {input: -1}\n"), Contains("price"));
  CHECK_THAT(error_of("url: [1]\n"), Contains("wrong type"));
  for (const char* way : {"completions", "chat_template"})
    CHECK_THAT(error_of(fmt::format("url: http://h/v1\ncontinue: {}\n", way)),
               Contains(fmt::format("'continue' is {}", way)) && Contains("tokenizer: DIR"));
}
