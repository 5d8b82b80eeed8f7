#include "serve/model_server.h"

#include <httplib.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "adapter_files.h"
#include "agents/engine/local_policy.h"
#include "core/file.h"
#include "core/text.h"
#include "env/suite.h"
#include "fixtures/serving.h"
#include "net/sse.h"
#include "temp_folder.h"

using namespace agon;
using namespace agon::serve;
using namespace agon::test;
using Catch::Contains;

namespace {

// The data of the events of a stream, which has to end with [DONE].
std::vector<Json> events_in(const std::string& body) {
  std::vector<std::string> data;
  net::EventStream stream;
  stream.feed(body, [&](std::string_view one) { data.emplace_back(one); });
  REQUIRE_FALSE(data.empty());
  CHECK(data.back() == "[DONE]");
  data.pop_back();
  std::vector<Json> events;
  for (const std::string& one : data) events.push_back(Json::parse(one));
  return events;
}

}  // namespace

TEST_CASE("the server lists its models and reports its health and metrics") {
  Serving serving;
  CHECK(Json::parse(serving.client.Get("/health")->body)["status"] == "ok");
  const Json models = Json::parse(serving.client.Get("/v1/models")->body);
  CHECK(models["object"] == "list");
  CHECK(models["data"][0]["id"] == "agon-tiny");
  CHECK(models["data"][0]["max_model_len"] == 2048);
  CHECK(Json::parse(serving.client.Get("/v1/models/agon-tiny")->body)["id"] == "agon-tiny");
  serving.answer("/v1/chat/completions", chat("hello"));
  CHECK(serving.metric("agon_requests_total{route=\"/v1/chat/completions\",status=\"200\"}") == 1);
  CHECK(serving.metric("agon_generation_tokens_total") > 0);
  CHECK(serving.metric("agon_time_to_first_token_seconds_count") == 1);
  const Json nothing = Json::parse(serving.client.Get("/nothing")->body);
  CHECK(nothing["error"]["code"] == "not_found");
}

TEST_CASE("an adapter is a model of its own, on the policy's weights") {
  const TempFolder folder;
  write_adapter(folder / "role", agents::open_model_folder(tiny()).config,
                {.base_model = tiny().string(), .rank = 2, .alpha = 4},
                {"model.layers.0.self_attn.q_proj", "model.layers.2.mlp.up_proj"}, 1);
  const auto served = std::make_shared<ServedPolicy>(tiny(), agents::EngineOptions{.threads = 1});
  served->add_adapter("role", folder / "role");
  CHECK_THROWS_WITH(served->add_adapter("role", folder / "role"), Contains("two models have the name 'role'"));
  CHECK_THROWS_WITH(served->add_adapter("agon-tiny", folder / "role"), Contains("two models"));
  CHECK_THROWS_WITH(served->add_adapter("other", folder.path()), Contains("no adapter_config.json"));
  Serving serving({}, {.policy = served});
  const Json model = Json::parse(serving.client.Get("/v1/models/role")->body);
  CHECK(model["parent"] == "agon-tiny");
  CHECK(model["max_model_len"] == 2048);
  agents::CompletionRequest request{.messages = {Message::of(Role::user, "What is 2 + 3?")}};
  request.sampling.temperature = 0;
  request.sampling.max_tokens = 12;
  Json body = chat("What is 2 + 3?", {{"return_token_ids", true}});
  std::vector<std::vector<std::int32_t>> written;
  for (const auto& [name, path] : {std::pair("agon-tiny", tiny()), std::pair("role", folder / "role")}) {
    body["model"] = name;
    const Json answer = serving.answer("/v1/chat/completions", body);
    CHECK(answer["model"] == name);
    written.push_back(agents::make_local_policy(path)->complete({&request, 1}).at(0).token_ids);
    CHECK(answer["choices"][0]["token_ids"] == written.back());
  }
  CHECK(written[0] != written[1]);
  const Json text = serving.answer("/v1/completions", {{"model", "role"}, {"prompt", "2 + 3"}, {"prompt_logprobs", 0}});
  CHECK(text["model"] == "role");
  body["model"] = "nobody";
  CHECK_THAT(serving.refusal("/v1/chat/completions", body.dump(), 404)["message"].get<std::string>(),
             Contains("agon-tiny, role"));
}

TEST_CASE("answers to 20 charts are those of the policy in this process") {
  Serving serving;
  const auto policy = agents::make_local_policy(tiny());
  const env::Suite suite("charts");
  const auto env = suite.make_env();
  for (std::uint64_t task = 0; task < 20; ++task) {
    std::vector<Message> messages;
    if (!suite.info().instructions.empty()) messages.push_back(Message::of(Role::system, suite.info().instructions));
    messages.push_back({Role::user, env->reset({env::Split::test, task, 0}).observation.parts, {}, {}});
    Json list = Json::array();
    for (const Message& message : messages) {
      Json content = Json::array();
      for (const Part& part : message.parts)
        if (part.is_image())
          content.push_back(picture_part(part.image));
        else
          content.push_back({{"type", "text"}, {"text", part.text}});
      list.push_back({{"role", to_string(message.role)}, {"content", content}});
    }
    agents::CompletionRequest request{.messages = messages};
    request.sampling.temperature = 0;
    request.sampling.max_tokens = 200;
    const agents::Completion here = policy->complete({&request, 1}).at(0);
    Json body{{"model", "agon-tiny"}, {"messages", list}, {"temperature", 0}, {"max_tokens", 200}, {"logprobs", true}};
    const Json there = serving.answer("/v1/chat/completions", body);
    const Json& choice = there["choices"][0];
    CHECK(choice["message"]["content"] == here.text);
    CHECK(there["usage"]["completion_tokens"] == here.tokens());
    CHECK(there["usage"]["prompt_tokens"] == here.prompt_tokens);
    CHECK(choice["finish_reason"] == std::string(to_string(here.finish_reason)));
    const Json& tokens = choice["logprobs"]["content"];
    REQUIRE(tokens.size() == here.logprobs.size());
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      CHECK(tokens[i]["id"] == here.token_ids[i]);
      CHECK(tokens[i]["logprob"].get<double>() == Approx(here.logprobs[i]).margin(1e-6));
    }
    body["stream"] = true;
    const auto streamed = serving.client.Post("/v1/chat/completions", body.dump(), "application/json");
    REQUIRE(streamed);
    CHECK_THAT(streamed->get_header_value("Content-Type"), Contains("text/event-stream"));
    std::string text;
    std::size_t told = 0;
    for (const Json& event : events_in(streamed->body)) {
      const Json& one = event["choices"][0];
      text += one["delta"].value("content", "");
      if (one["logprobs"].is_object()) told += one["logprobs"]["content"].size();
    }
    CHECK(text == here.text);
    CHECK(told == here.logprobs.size());
  }
}

TEST_CASE("a policy tells what it takes in memory, and is refused where it does not fit") {
  const agents::ModelMemory memory = tiny_policy()->engine().memory();
  CHECK(memory.tokens() > 0);
  CHECK_THROWS_WITH(ServedPolicy(tiny(), agents::EngineOptions{}, {.memory = {.limit = 1'000'000}}),
                    Contains("does not fit into 1.0 MB"));
  const std::int64_t limit = memory.weight_bytes + 4 * memory.page_bytes;
  const auto small = std::make_shared<ServedPolicy>(tiny(), agents::EngineOptions{.threads = 1},
                                                    agents::BackendOptions{.memory = {.limit = limit}});
  CHECK(small->engine().memory().tokens() == 64);
  Serving serving({}, {.policy = small});
  const Json error = serving.refusal("/v1/chat/completions", chat("Hello", {{"max_tokens", 200}}).dump());
  CHECK_THAT(error["message"].get<std::string>(), Contains("holds 64"));
}

TEST_CASE("banned tokens and words are not written") {
  Serving serving;
  const auto ids_with = [&](const Json& more) {
    Json body = chat("What is 2 + 3?", {{"return_token_ids", true}});
    body.update(more);
    return serving.answer("/v1/chat/completions", body)["choices"][0]["token_ids"].get<std::vector<std::int32_t>>();
  };
  const std::vector<std::int32_t> plain = ids_with(Json::object());
  REQUIRE(plain.size() > 2);
  const std::vector<std::int32_t> without = ids_with({{"banned_token_ids", {plain[0], plain[1]}}});
  for (const std::int32_t id : {plain[0], plain[1]}) CHECK(std::count(without.begin(), without.end(), id) == 0);
  const std::string word = tiny_policy()->tokenizer().decode(std::span(plain).first(2), true);
  const std::vector<std::int32_t> other = ids_with({{"bad_words", {word}}});
  for (const std::string& spelled : {word, " " + word}) {
    const auto run = tiny_policy()->tokenizer().encode(spelled, false, agents::TextPlace::within);
    CHECK(std::search(other.begin(), other.end(), run.begin(), run.end()) == other.end());
  }
  const std::string path = "/v1/chat/completions";
  CHECK(serving.refusal(path, chat("x", {{"bad_words", {""}}}).dump())["param"] == "bad_words");
  CHECK(serving.refusal(path, chat("x", {{"bad_words", 3}}).dump())["param"] == "bad_words");
  CHECK_THAT(serving.refusal(path, chat("x", {{"banned_token_ids", {999999}}}).dump())["message"].get<std::string>(),
             Contains("banned token 999999"));
}

TEST_CASE("samples, seeds and stop strings") {
  Serving serving;
  const Json many = chat("Count.", {{"temperature", 1}, {"seed", 5}, {"n", 3}, {"max_tokens", 20}});
  const Json first = serving.answer("/v1/chat/completions", many),
             second = serving.answer("/v1/chat/completions", many);
  REQUIRE(first["choices"].size() == 3);
  CHECK(first["choices"] == second["choices"]);
  CHECK(first["choices"][2]["index"] == 2);
  CHECK(second["usage"]["prompt_tokens_details"]["cached_tokens"] == second["usage"]["prompt_tokens"]);
  CHECK(first["id"] != second["id"]);
  CHECK_THAT(first["id"].get<std::string>(), Catch::StartsWith("chatcmpl-"));
  const std::string whole = serving.answer("/v1/chat/completions", chat("Count."))["choices"][0]["message"]["content"];
  REQUIRE(whole.size() > 4);
  const std::string stop = whole.substr(2, 2);
  const std::size_t at = whole.find(stop);
  const Json cut = serving.answer("/v1/chat/completions", chat("Count.", {{"stop", stop}}))["choices"][0];
  CHECK(cut["message"]["content"] == whole.substr(0, at));
  CHECK(cut["finish_reason"] == "stop");
  CHECK(cut["stop_reason"] == stop);
  const Json kept = serving.answer(
      "/v1/chat/completions", chat("Count.", {{"stop", {stop}}, {"include_stop_str_in_output", true}}))["choices"][0];
  CHECK(kept["message"]["content"] == whole.substr(0, at + stop.size()));
  for (const bool keeps : {false, true}) {
    const auto streamed = serving.client.Post("/v1/chat/completions",
                                              chat("Count.", {{"stop", stop},
                                                              {"include_stop_str_in_output", keeps},
                                                              {"stream", true},
                                                              {"n", 2},
                                                              {"stream_options", {{"include_usage", true}}}})
                                                  .dump(),
                                              "application/json");
    REQUIRE(streamed);
    std::vector<std::string> texts(2);
    const std::vector<Json> events = events_in(streamed->body);
    for (const Json& event : events)
      for (const Json& choice : event["choices"])
        texts.at(choice["index"].get<std::size_t>()) += choice["delta"].value("content", "");
    CHECK(texts == std::vector<std::string>(2, whole.substr(0, at + (keeps ? stop.size() : 0))));
    CHECK(events.back()["choices"].empty());
    CHECK(events.back()["usage"]["completion_tokens"].get<int>() > 0);
    CHECK(events[events.size() - 2]["choices"][0]["stop_reason"] == stop);
  }
  const Json sure = serving.answer(
      "/v1/chat/completions", chat("What is 2 + 2?", {{"max_tokens", 40}, {"logprobs", true}, {"top_logprobs", 5}}));
  for (const Json& token : sure["choices"][0]["logprobs"]["content"]) CHECK(token["top_logprobs"].size() == 5);
  const Json ended = serving.answer("/v1/chat/completions", chat("Count.", {{"max_tokens", 1}}))["choices"][0];
  CHECK(ended["finish_reason"] == "length");
  CHECK(ended["stop_reason"].is_null());
}

TEST_CASE("a turn is continued where it stands") {
  Serving serving;
  const std::string whole =
      serving.answer("/v1/chat/completions", chat("Count.", {{"max_tokens", 16}}))["choices"][0]["message"]["content"];
  Json rest = chat("Count.", {{"continue_final_message", true}, {"add_generation_prompt", false}});
  rest["messages"].push_back({{"role", "assistant"}, {"content", "<think>"}});
  agents::CompletionRequest request{.messages = {Message::of(Role::user, "Count.")}, .prefix = "<think>"};
  request.sampling.temperature = 0;
  request.sampling.max_tokens = 12;
  const agents::Completion here = agents::make_local_policy(tiny())->complete({&request, 1}).at(0);
  CHECK(serving.answer("/v1/chat/completions", rest)["choices"][0]["message"]["content"] == here.text);
}

TEST_CASE("a program without LibTorch says so when a device needs it") {
  CHECK_THROWS_WITH(ServedPolicy(tiny(), {}, {.device = "torch:cpu"}),
                    Contains("has no LibTorch") && Contains("torch:cpu"));
}

TEST_CASE("tools go to a template that takes them") {
  const Json tools = Json::parse(R"([{"type": "function", "function": {"name": "look_up", "parameters": {}}}])");
  Json asked = chat("Count.", {{"tools", tools}, {"max_tokens", 16}, {"return_token_ids", true}});
  {
    Serving plain;
    CHECK(plain.refusal("/v1/chat/completions", asked.dump())["param"] == "tools");
    CHECK(plain.refusal("/v1/completions", Json{{"prompt", "x"}, {"tools", tools}}.dump())["param"] == "tools");
  }
  const test::TempFolder folder;
  std::filesystem::copy(tiny(), folder / "with_tools");
  const std::string file = (folder / "with_tools/chat_template.jinja").string();
  write_file_atomically(file, "{%- if tools -%}{{- tools | tojson -}}{%- endif -%}" + read_file(file));
  Serving serving({}, {.policy = std::make_shared<ServedPolicy>(folder / "with_tools", agents::EngineOptions{})});
  const Json choice = serving.answer("/v1/chat/completions", asked)["choices"][0];
  const Json prompt{{"tokens", choice["prompt_token_ids"]}};
  CHECK_THAT(serving.answer("/detokenize", prompt)["prompt"].get<std::string>(),
             Catch::StartsWith(R"([{"type": "function", "function": {"name": "look_up", "parameters": {}}}])"));
  const Json counted{{"messages", asked["messages"]}, {"tools", tools}};
  CHECK(serving.answer("/tokenize", counted)["tokens"] == prompt["tokens"]);
  asked["stream"] = true;
  const auto events = serving.client.Post("/v1/chat/completions", asked.dump(), "application/json");
  REQUIRE(events);
  std::string text;
  for (const Json& event : events_in(events->body)) text += event["choices"][0]["delta"].value("content", "");
  CHECK(text == choice["message"]["content"]);
}

TEST_CASE("completions of texts and of ids, with echo and logprobs") {
  Serving serving;
  const Json tokens = serving.answer("/tokenize", {{"prompt", "The answer"}, {"return_token_strs", true}});
  const std::vector<std::int32_t> ids = tokens["tokens"];
  CHECK(tokens["count"] == ids.size());
  CHECK(tokens["max_model_len"] == 2048);
  CHECK(tokens["token_strs"].size() == ids.size());
  CHECK(serving.answer("/detokenize", {{"tokens", ids}})["prompt"] == "The answer");
  CHECK(serving.answer("/tokenize", {{"messages", {{{"role", "user"}, {"content", "hi"}}}}})["count"].get<int>() > 4);
  const Json text =
      serving.answer("/v1/completions", {{"prompt", "The answer"}, {"temperature", 0}, {"max_tokens", 5}});
  const Json same = serving.answer("/v1/completions", {{"prompt", ids}, {"temperature", 0}, {"max_tokens", 5}});
  CHECK(text["object"] == "text_completion");
  CHECK(text["choices"][0]["text"] == same["choices"][0]["text"]);
  CHECK(text["usage"]["prompt_tokens"] == ids.size());
  const Json echoed = serving.answer(
      "/v1/completions", {{"prompt", ids}, {"temperature", 0}, {"max_tokens", 5}, {"echo", true}, {"logprobs", 2}});
  const Json& choice = echoed["choices"][0];
  CHECK(choice["text"] == "The answer" + text["choices"][0]["text"].get<std::string>());
  const Json& logprobs = choice["logprobs"];
  const std::size_t all = ids.size() + echoed["usage"]["completion_tokens"].get<std::size_t>();
  for (const char* key : {"tokens", "token_logprobs", "top_logprobs", "text_offset"})
    CHECK(logprobs[key].size() == all);
  CHECK(logprobs["token_logprobs"][0].is_null());
  CHECK(logprobs["token_logprobs"][1].get<double>() < 0);
  CHECK(logprobs["text_offset"][0] == 0);
  CHECK(logprobs["top_logprobs"][ids.size()].size() >= 1);
  CHECK(logprobs["top_logprobs"][1].size() >= 2);  // of the prompt too, with the most likely tokens
  const Json scored =
      serving.answer("/v1/completions", {{"prompt", "The answer"}, {"max_tokens", 0}, {"echo", true}, {"logprobs", 0}});
  CHECK(scored["choices"][0]["text"] == "The answer");
  CHECK(scored["choices"][0]["logprobs"]["token_logprobs"].size() == ids.size());
  CHECK(scored["usage"]["completion_tokens"] == 0);
  const Json several = serving.answer("/v1/completions", {{"prompt", {"a", "b"}}, {"n", 2}, {"max_tokens", 2}});
  CHECK(several["choices"].size() == 4);
  const auto streamed = serving.client.Post(
      "/v1/completions",
      Json{{"prompt", "The answer"}, {"temperature", 0}, {"max_tokens", 5}, {"stream", true}, {"echo", true}}.dump(),
      "application/json");
  std::string joined;
  for (const Json& event : events_in(streamed->body)) joined += event["choices"][0]["text"].get<std::string>();
  CHECK(joined == choice["text"]);
}

TEST_CASE("the tokens of a prompt are scored, the same in all forms") {
  Serving serving;
  const Json asked{{"prompt", "The answer is 7."}, {"max_tokens", 1}, {"temperature", 0}};
  const auto with = [](Json body, const Json& more) {
    body.update(more);
    return body;
  };
  const Json echoed = serving.answer("/v1/completions", with(asked, {{"echo", true}, {"logprobs", 0}}));
  const Json told = serving.answer("/v1/completions", with(asked, {{"prompt_logprobs", 3}}));
  const Json& list = told["choices"][0]["prompt_logprobs"];
  REQUIRE(list.size() == told["usage"]["prompt_tokens"]);
  CHECK(list[0].is_null());
  std::string spelled;
  for (std::size_t i = 1; i < list.size(); ++i) {
    const Json own = list[i].front();
    CHECK(own["logprob"] == echoed["choices"][0]["logprobs"]["token_logprobs"][i]);
    CHECK((list[i].size() >= 3 && list[i].size() <= 4));
    spelled += own["decoded_token"].get<std::string>();
  }
  CHECK(std::string_view("The answer is 7.").ends_with(spelled));
  CHECK(serving.answer("/v1/completions", asked)["choices"][0].contains("prompt_logprobs") == false);

  Json picture = chat("How many?");
  picture["messages"][0]["content"] = {picture_part(Image(56, 56, std::vector<std::uint8_t>(56 * 56 * 3, 90))),
                                       {{"type", "text"}, {"text", "How many?"}}};
  picture["prompt_logprobs"] = 0;
  const Json seen = serving.answer("/v1/chat/completions", picture)["prompt_logprobs"];
  CHECK(seen[seen.size() / 4].is_null());  // tokens of the picture have none
  CHECK(seen.back().front()["logprob"].get<double>() <= 0);
  picture["stream"] = true;
  CHECK(serving.refusal("/v1/chat/completions", picture.dump())["param"] == "prompt_logprobs");
}

TEST_CASE("what clients of OpenAI and vLLM write besides") {
  Serving serving;
  const std::string path = "/v1/chat/completions";
  const Json said = serving.answer(path, chat("x", {{"max_tokens", 3.0}, {"seed", 5.0}}));
  CHECK(said["usage"]["completion_tokens"].get<int>() <= 3);
  CHECK(serving.refusal(path, chat("x", {{"max_tokens", 3.5}}).dump())["param"] == "max_tokens");
  Json developer = chat("x");
  const Json brief{{"role", "developer"}, {"content", "Be brief."}};
  developer["messages"].insert(developer["messages"].begin(), brief);
  Json system = developer;
  system["messages"][0]["role"] = "system";
  CHECK(serving.answer(path, developer)["choices"] == serving.answer(path, system)["choices"]);
  const Json open = serving.answer("/tokenize", {{"messages", chat("x")["messages"]}});
  const Json shut =
      serving.answer("/tokenize", {{"messages", chat("x")["messages"]}, {"add_generation_prompt", false}});
  CHECK(open["count"].get<int>() > shut["count"].get<int>());
  CHECK(std::equal(shut["tokens"].begin(), shut["tokens"].end(), open["tokens"].begin()));
  CHECK(serving.refusal(path, R"({"messages": [{"role": "user", "content": "x"}]})" + std::string(1, '\0') +
                                  "x")["code"] == "invalid_json");
  CHECK(serving.refusal(path, chat("x", {{"stream", true}, {"stream_options", Json::array()}}).dump())["param"] ==
        "stream_options");
}

TEST_CASE("the text's offsets of tokens are those of the text, whole and streamed") {
  Serving serving;
  for (const bool echo : {true, false})
    for (int seed = 0; seed < 20; ++seed) {
      Json body{{"prompt", "\u6f22x"}, {"max_tokens", 12}, {"logprobs", 1},    {"echo", echo},
                {"seed", seed},        {"stop", {"q9"}},   {"temperature", 2}, {"return_token_ids", true}};
      const Json whole = serving.answer("/v1/completions", body)["choices"][0];
      const Json& offsets = whole["logprobs"]["text_offset"];
      CHECK(std::is_sorted(offsets.begin(), offsets.end()));
      body["stream"] = true;
      const auto streamed = serving.client.Post("/v1/completions", body.dump(), "application/json");
      REQUIRE(streamed);
      Json told = Json::array(), ids = Json::array(), prompts = Json::array();
      for (const Json& event : events_in(streamed->body)) {
        const Json& choice = event["choices"][0];
        if (choice.contains("prompt_token_ids")) prompts.push_back(choice["prompt_token_ids"]);
        for (const Json& id : choice.value("token_ids", Json::array())) ids.push_back(id);
        if (choice["logprobs"].is_object())
          for (const Json& offset : choice["logprobs"]["text_offset"]) told.push_back(offset);
      }
      CHECK(told == offsets);
      CHECK(ids == whole["token_ids"]);
      CHECK(prompts == Json::array({whole["prompt_token_ids"]}));
    }
}
