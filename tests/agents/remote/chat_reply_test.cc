#include "agents/remote/chat_reply.h"

#include <catch2/catch.hpp>

using namespace agon;
using namespace agon::agents;
using Catch::Contains;

TEST_CASE("a reply of vLLM, with stop_reason, logprobs and usage") {
  const ChatReply reply = read_chat_reply(
      R"({"model":"m","choices":[{"index":0,"message":{"content":"ab","reasoning_content":"why"},)"
      R"("finish_reason":"stop","stop_reason":"\n\n","logprobs":{"content":[)"
      R"({"token":"a","bytes":[97],"logprob":-0.5,"top_logprobs":[{"token":"a","logprob":-0.5},{"token":"c","logprob":-1}]},)"
      R"({"token":"b","bytes":[98],"logprob":-0.25,"top_logprobs":[]}]}}],)"
      R"("usage":{"prompt_tokens":7,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}})");
  REQUIRE(reply.fault == "");
  const ChatAnswer& answer = reply.answers.at(0);
  CHECK(answer.text == "ab");
  CHECK(answer.reasoning == "why");
  CHECK(answer.stop == "\n\n");
  CHECK(answer.tokens == std::vector<std::string>{"a", "b"});
  CHECK(answer.logprobs == std::vector<float>{-0.5f, -0.25f});
  CHECK(answer.likeliest.at(0).at(1).first == "c");
  CHECK((reply.usage->prompt_tokens == 7 && reply.usage->completion_tokens == 2 && reply.usage->cached_tokens == 4));
}

TEST_CASE("fields of other types, and answers in any order, are read as far as they go") {
  const ChatReply reply = read_chat_reply(
      R"({"choices":[{"index":1,"message":{"content":"second"},"finish_reason":"length"},)"
      R"({"index":0,"message":{"content":null},"finish_reason":7,"logprobs":{"content":[3,{"logprob":"x"}]},)"
      R"("stop_reason":151643,"token_ids":["a",5,-1]},"choice",{"index":-4},{"index":1e9}],"usage":{"prompt_tokens":-3}})");
  REQUIRE(reply.answers.size() == 2);
  CHECK(reply.answers[1].text == "second");
  CHECK(reply.answers[1].finish_reason == "length");
  CHECK(reply.answers[0].text == "");
  CHECK(reply.answers[0].stop == "");
  CHECK(reply.answers[0].token_ids == std::vector<std::int32_t>{5});
  CHECK(reply.usage->prompt_tokens == 0);
}

TEST_CASE("what is no answer says why") {
  for (const char* untold : {R"({"choices":[{}]})", R"({"choices":[null]})", R"({"choices":[{"text":5}]})"})
    CHECK_THAT(read_chat_reply(untold).fault, Contains("neither a message nor a text"));
  CHECK_THAT(read_chat_reply("<html>busy</html>").fault, Contains("not a JSON object") && Contains("<html>"));
  CHECK_THAT(read_chat_reply("[]").fault, Contains("not a JSON object"));
  CHECK_THAT(read_chat_reply("{}").fault, Contains("no choices"));
  CHECK_THAT(read_chat_reply(R"({"choices":{}})").fault, Contains("no choices"));
  CHECK_THAT(read_chat_reply(R"({"error":{"message":"out of memory"}})").fault, Contains("out of memory"));
  CHECK_THAT(read_chat_reply(std::string(100'000, '[')).fault, Contains("not a JSON object"));
}

TEST_CASE("an echo has the prompt's tokens, whatever stands behind it") {
  const auto echo = [](const std::string& logprobs, const std::string& text = "ab cd ef") {
    const ChatReply reply =
        read_chat_reply(R"({"choices":[{"text":")" + text +
                        R"(","logprobs":{"tokens":["ab"," cd"," ef"],"token_logprobs":)" + logprobs + "}}]}");
    return ending_logprobs(echoed_prompt(reply.answers.at(0), "ab cd"), " cd");
  };
  CHECK(echo("[null,-0.5,-1]") == std::vector<float>{-0.5F});
  CHECK_FALSE(echo("[null,null,-1]"));
  CHECK_FALSE(echo(R"([null,"-0.5",-1])"));
  CHECK(echo("[null,-1e308,-1]") == std::vector<float>{-9999});
  const ChatReply short_one = read_chat_reply(
      R"({"choices":[{"text":"ab cd","logprobs":{"tokens":["ab"," cd"],"token_logprobs":[null,-0.25]}}]})");
  CHECK(ending_logprobs(echoed_prompt(short_one.answers.at(0), "ab cd"), " cd") == std::vector<float>{-0.25F});
}

TEST_CASE("a stream is its deltas, one behind the other") {
  ChatStream stream;
  for (const char* data : {R"({"choices":[{"index":0,"delta":{"role":"assistant"}}]})",
                           R"({"choices":[{"index":0,"delta":{"content":"a"}}]})",
                           R"({"choices":[{"index":0,"delta":{"content":"b","reasoning":"r"}}]})",
                           R"({"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})",
                           R"({"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}})"})
    CHECK(stream.take(data));
  CHECK(!stream.take("[DONE]"));
  CHECK(stream.is_done());
  const ChatAnswer& answer = stream.reply().answers.at(0);
  CHECK(answer.text == "ab");
  CHECK(answer.reasoning == "r");
  CHECK(answer.chunks == 2);
  CHECK(answer.finish_reason == "stop");
  CHECK(stream.reply().usage->completion_tokens == 2);
}

TEST_CASE("an error in the middle of a stream is its fault") {
  ChatStream stream;
  CHECK(stream.take(R"({"choices":[{"index":0,"delta":{"content":"a"}}]})"));
  CHECK(!stream.take(R"({"error":{"message":"worker died"}})"));
  CHECK_THAT(stream.reply().fault, Contains("worker died"));
  ChatStream broken;
  CHECK(!broken.take("{half"));
  CHECK(broken.reply().fault != "");
}

TEST_CASE("the text of a refusal, in the form of each server") {
  CHECK(error_text(R"({"error":{"message":"no such model","code":404}})") == "no such model");
  CHECK(error_text(R"({"message":"no","object":"error"})") == "no");
  CHECK(error_text(R"({"detail":"Unexpected fields"})") == "Unexpected fields");
  CHECK(error_text(R"({"error":"plain"})") == "plain");
  CHECK(error_text("Internal Server Error") == "Internal Server Error");
  CHECK(error_text(std::string("\xFF\x1B[31m")).find('\x1B') == std::string::npos);
}
