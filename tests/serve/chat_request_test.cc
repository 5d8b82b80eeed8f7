#include "serve/chat_request.h"

#include <catch2/catch.hpp>

#include "core/base64.h"
#include "serve/completion_request.h"

using namespace agon;
using namespace agon::serve;
using Catch::Contains;

namespace {

SortedJson json_with(const std::string& keys) {
  return SortedJson::parse(R"({"messages": [{"role": "user", "content": "hi"}])" + (keys.empty() ? "" : ", " + keys) +
                           "}");
}

ApiError error_of(const SortedJson& body) {
  const Checked<ChatCall> call = read_chat_call(body);
  REQUIRE(call.error);
  CHECK(call.error->status == 400);
  return *call.error;
}
std::string refusal(const std::string& keys) { return error_of(json_with(keys)).message; }

std::string with_picture(const std::string& url) {
  return SortedJson{
      {"messages",
       {{{"role", "user"},
         {"content", {{{"type", "image_url"}, {"image_url", {{"url", url}}}}, {{"type", "text"}, {"text", "?"}}}}}}}}
      .dump();
}

std::string data_url(const std::vector<std::uint8_t>& bytes, const std::string& type = "image/png") {
  return "data:" + type + ";base64," + base64(bytes);
}

Image red(int width, int height) {
  return {width, height,
          std::vector<std::uint8_t>(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3, 99)};
}

}  // namespace

TEST_CASE("a chat is read with all that it says") {
  const ChatCall call = value_or_throw(read_chat_call(SortedJson::parse(R"({
    "messages": [{"role": "system", "content": "be brief"},
                 {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}],
    "temperature": 0.5, "top_p": 0.9, "top_k": 5, "seed": -3, "max_tokens": 7, "stop": ["x", "yy"], "n": 3,
    "logprobs": true, "top_logprobs": 2, "stream": true, "stream_options": {"include_usage": true},
    "include_stop_str_in_output": true, "user": "someone", "tools": [], "response_format": {"type": "text"},
    "presence_penalty": 0.5, "frequency_penalty": -1, "repetition_penalty": 1.1, "min_p": 0.05,
    "logit_bias": {"7": -100, "9": 1.5}, "banned_token_ids": [3, 4], "tool_choice": "none"})")));
  REQUIRE(call.request.messages.size() == 2);
  CHECK(call.request.messages[1].parts.size() == 2);
  CHECK(call.request.messages[1].text() == "ab");
  CHECK(call.request.n == 3);
  const agents::Sampling& sampling = call.request.sampling;
  CHECK(sampling.temperature == 0.5);
  CHECK(sampling.top_p == 0.9);
  CHECK((sampling.min_p == 0.05 && sampling.changes.repetition_penalty == 1.1));
  CHECK((sampling.changes.presence_penalty == 0.5 && sampling.changes.frequency_penalty == -1));
  CHECK(sampling.changes.bias.at(7) == -std::numeric_limits<float>::infinity());
  CHECK(sampling.changes.bias.at(9) == 1.5F);
  CHECK(sampling.changes.banned == std::vector<std::vector<std::int32_t>>{{3}, {4}});
  CHECK(sampling.top_k == 5);
  CHECK(sampling.seed == static_cast<std::uint64_t>(-3));
  CHECK(sampling.max_tokens == 7);
  CHECK(sampling.stop == std::vector<std::string>{"x", "yy"});
  CHECK(sampling.alternatives == 2);
  CHECK((call.answer.streams && call.answer.include_usage && call.answer.logprobs && call.answer.include_stop));
  CHECK(value_or_throw(read_chat_call(json_with(""))).request.sampling.max_tokens == 0);
  CHECK(value_or_throw(read_chat_call(json_with(R"("max_completion_tokens": 4, "stop": "z")"))).request.sampling.stop ==
        std::vector<std::string>{"z"});
}

TEST_CASE("a turn is continued as vLLM continues it") {
  const std::string messages =
      R"({"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "so "}])";
  const ChatCall call = value_or_throw(read_chat_call(
      SortedJson::parse(messages + R"(, "continue_final_message": true, "add_generation_prompt": false})")));
  CHECK(call.request.prefix == "so ");
  CHECK(call.request.messages.size() == 1);
  const auto why = [&](const std::string& keys) { return error_of(SortedJson::parse(messages + keys + "}")).message; };
  CHECK_THAT(why(R"(, "continue_final_message": true, "add_generation_prompt": true)"), Contains("exclude each other"));
  CHECK_THAT(why(R"(, "continue_final_message": true)"), Contains("exclude each other"));
  CHECK_THAT(why(R"(, "add_generation_prompt": false)"), Contains("no turn to write"));
  CHECK_THAT(refusal(R"("continue_final_message": true, "add_generation_prompt": false)"), Contains("the assistant"));
  CHECK(value_or_throw(read_chat_call(SortedJson::parse(messages + "}"))).request.prefix.empty());
}

TEST_CASE("values of other types and out of range are refused by their key") {
  for (const auto& [keys, param] : std::vector<std::pair<std::string, std::string>>{
           {R"("n": 0)", "n"},
           {R"("n": -1)", "n"},
           {R"("n": 1e9)", "n"},
           {R"("n": 129)", "n"},
           {R"("n": "two")", "n"},
           {R"("max_tokens": 0)", "max_tokens"},
           {R"("max_tokens": -5)", "max_tokens"},
           {R"("max_tokens": 99999999999999999999)", "max_tokens"},
           {R"("max_tokens": 1.5)", "max_tokens"},
           {R"("max_tokens": [3])", "max_tokens"},
           {R"("temperature": -0.1)", "temperature"},
           {R"("temperature": "hot")", "temperature"},
           {R"("temperature": 1e300)", "temperature"},
           {R"("top_p": 0)", "top_p"},
           {R"("top_p": 1.01)", "top_p"},
           {R"("top_k": -2)", "top_k"},
           {R"("seed": 0.5)", "seed"},
           {R"("seed": "x")", "seed"},
           {R"("stop": 3)", "stop"},
           {R"("stop": [""])", "stop"},
           {R"("stop": ["a", 3])", "stop"},
           {R"("stream": 1)", "stream"},
           {R"("stream_options": {"include_usage": true})", "stream_options"},
           {R"("logprobs": 3)", "logprobs"},
           {R"("logprobs": true, "top_logprobs": 21)", "top_logprobs"},
           {R"("top_logprobs": 2)", "top_logprobs"},
           {R"("response_format": {"type": "json_object"})", "response_format"},
           {R"("response_format": "json")", "response_format"},
           {R"("guided_regex": "a+")", "guided_regex"},
           {R"("logit_bias": {"5": 101})", "logit_bias"},
           {R"("logit_bias": {"x": 1})", "logit_bias"},
           {R"("logit_bias": [5])", "logit_bias"},
           {R"("banned_token_ids": 5)", "banned_token_ids"},
           {R"("banned_token_ids": [-1])", "banned_token_ids"},
           {R"("response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {}}})",
            "response_format"},
           {R"("guided_json": {"type": "object"})", "guided_json"},
           {R"("structured_outputs": {"json": {}})", "structured_outputs"},
           {R"("frequency_penalty": 2.5)", "frequency_penalty"},
           {R"("repetition_penalty": 0)", "repetition_penalty"},
           {R"("min_p": 1.5)", "min_p"},
           {R"("echo": true)", "echo"},
           {R"("add_generation_prompt": 1)", "add_generation_prompt"}}) {
    CAPTURE(keys);
    const ApiError error = error_of(json_with(keys));
    CHECK(error.param == param);
    CHECK_THAT(error.message, Contains("'" + param + "'"));
    CHECK_FALSE(error.code.empty());
  }
  CHECK_THAT(refusal(R"("response_format": {"type": "json_schema"})"), Contains("does not constrain"));
}

TEST_CASE("messages that are none are refused with their place") {
  const auto why = [](const std::string& messages) {
    return error_of(SortedJson::parse("{\"messages\": " + messages + "}")).message;
  };
  CHECK_THAT(error_of(SortedJson::parse("{}")).message, Contains("'messages' is missing"));
  CHECK_THAT(why("[]"), Contains("empty"));
  CHECK_THAT(why("\"hi\""), Contains("not a list"));
  CHECK_THAT(why("[3]"), Contains("messages[0]"));
  CHECK_THAT(why(R"([{"content": "x"}])"), Contains("messages[0].role"));
  CHECK_THAT(why(R"([{"role": "wizard", "content": "x"}])"), Contains("wizard"));
  CHECK_THAT(why(R"([{"role": "user"}])"), Contains("no content"));
  CHECK_THAT(why(R"([{"role": "user", "content": 5}])"), Contains("messages[0].content"));
  CHECK_THAT(why(R"([{"role": "user", "content": ["x"]}])"), Contains("messages[0].content[0]"));
  CHECK_THAT(why(R"([{"role": "user", "content": [{"type": "input_audio"}]}])"), Contains("input_audio"));
  CHECK_THAT(why(R"([{"role": "user", "content": [{"type": "text"}]}])"), Contains("no text"));
  CHECK_THAT(why(R"([{"role": "assistant", "content": "x", "tool_calls": [{"id": "1"}]}])"),
             Contains("messages[0].tool_calls[0]"));
  CHECK_THAT(why(R"([{"role": "assistant", "content": "x", "tool_calls": 1}])"), Contains("not a list"));
  CHECK_THAT(
      why(R"([{"role": "user", "content": "x", "tool_calls": [{"type": "function", "function": {"name": "f"}}]}])"),
      Contains("not the assistant's"));
}

TEST_CASE("pictures come as data URLs alone, within their limits") {
  const Image picture = red(30, 20);
  for (const auto& [format, type] : std::vector<std::pair<ImageFormat, std::string>>{
           {ImageFormat::png, "image/png"}, {ImageFormat::jpeg, "image/jpeg"}, {ImageFormat::webp, "image/webp"}}) {
    const ChatCall call =
        value_or_throw(read_chat_call(SortedJson::parse(with_picture(data_url(encode_image(picture, format), type)))));
    CHECK(call.request.messages[0].parts[0].image.width() == 30);
  }
  const auto why = [](const std::string& url, const PictureLimits& limits = {}) {
    const Checked<ChatCall> call = read_chat_call(SortedJson::parse(with_picture(url)), limits);
    REQUIRE(call.error);
    CHECK(call.error->code == "invalid_image");
    return call.error->message;
  };
  CHECK_THAT(why("file:///etc/passwd"), Contains("opens no files"));
  CHECK_THAT(why("http://127.0.0.1:1/x.png"), Contains("fetches nothing"));
  CHECK_THAT(why("https://example.org/x.png"), Contains("fetches nothing"));
  CHECK_THAT(why("FILE:/etc/passwd"), Contains("opens no files"));
  CHECK_THAT(why("/etc/passwd"), Contains("opens no files"));
  CHECK_THAT(why(""), Contains("opens no files"));
  CHECK_THAT(why("data:text/plain;base64,QQ=="), Contains("not data:image/png"));
  CHECK_THAT(why("data:image/svg+xml;base64,QQ=="), Contains("not data:image/png"));
  CHECK_THAT(why("data:image/png,abc"), Contains("not data:image/png"));
  CHECK_THAT(why("data:image/png;base64,???"), Contains("not base64"));
  CHECK_THAT(why("data:image/png;base64,QUJD"), Contains("not a PNG"));
  CHECK_THAT(why(data_url(encode_image(red(300, 200), ImageFormat::png)), {.each = {.max_pixels = 1000}}),
             Contains("too many"));
  CHECK_THAT(why(data_url(encode_image(red(300, 1), ImageFormat::png))), Contains("Crop it"));
  CHECK_THAT(why(data_url(encode_image(picture, ImageFormat::png)), {.most = 0}), Contains("more than 0 pictures"));
  CHECK_THAT(why(data_url(encode_image(picture, ImageFormat::png)), {.most_pixels = 599}), Contains("599 pixels"));
  PictureLimits full;
  full.hold = [](std::size_t) { return false; };
  CHECK(read_chat_call(SortedJson::parse(with_picture(data_url(encode_image(picture, ImageFormat::png)))), full)
            .error->status == 503);
}

TEST_CASE("a picture that was sent before is not decoded again, and counts as before") {
  PictureCache known;
  const std::string url = data_url(encode_image(red(30, 20), ImageFormat::png));
  const auto read = [&](const std::string& sent, const PictureLimits& limits) {
    return read_chat_call(SortedJson::parse(with_picture(sent)), limits);
  };
  const auto picture = [](const Checked<ChatCall>& call) {
    return call.value.request.messages.at(0).parts.at(0).image;
  };
  const Image first = picture(read(url, {.known = &known}));
  CHECK(picture(read(url, {.known = &known})).rgb().data() == first.rgb().data());
  CHECK(picture(read(url, {})).rgb().data() != first.rgb().data());
  CHECK(picture(read(data_url(encode_image(red(20, 30), ImageFormat::png)), {.known = &known})) == red(20, 30));
  CHECK_THAT(read(url, {.most = 0, .known = &known}).error->message, Contains("more than 0 pictures"));
  CHECK_THAT(read(url, {.most_pixels = 599, .known = &known}).error->message, Contains("599 pixels"));
  CHECK(read(url, {.hold = [](std::size_t) { return false; }, .known = &known}).error->status == 503);
  CHECK(read("data:image/png;base64,QUJD", {.known = &known}).error);
  CHECK(read("data:image/png;base64,QUJD", {.known = &known}).error);
}

TEST_CASE("kept pictures are limited in bytes, and a large one pushes no others out") {
  PictureCache known(10'000);
  known.add("a", red(20, 20));
  known.add("b", red(20, 20));
  known.add("large", red(40, 40));
  CHECK(known.find("large").empty());
  CHECK_FALSE(known.find("a").empty());
  for (int i = 0; i < 7; ++i) known.add("c" + std::to_string(i), red(20, 20));
  CHECK_FALSE(known.find("a").empty());
  CHECK(known.find("b").empty());
}

TEST_CASE("prompts of completions are texts or ids") {
  const auto read = [](const std::string& keys) { return read_text_call(SortedJson::parse("{" + keys + "}")); };
  CHECK(read(R"("prompt": "abc")").value.prompts.at(0).text == "abc");
  CHECK(read(R"("prompt": "abc")").value.sampling.max_tokens == 16);
  CHECK(read(R"("prompt": [1, 2])").value.prompts.at(0).token_ids == std::vector<std::int32_t>{1, 2});
  CHECK(read(R"("prompt": ["a", "b"])").value.prompts.size() == 2);
  CHECK(read(R"("prompt": [[1], "b", [3, 4]])").value.prompts.size() == 3);
  CHECK(read(R"("prompt": "a", "echo": true, "max_tokens": 0)").value.sampling.max_tokens == 0);
  for (const char* keys :
       {R"("x": 1)", R"("prompt": "")", R"("prompt": [])", R"("prompt": [[]])", R"("prompt": 3)",
        R"("prompt": [1, "a"])", R"("prompt": [-1])", R"("prompt": [1.5])", R"("prompt": {"a": 1})",
        R"("prompt": "a", "max_tokens": 0)", R"("prompt": "a", "logprobs": 21)", R"("prompt": "a", "logprobs": -1)",
        R"("prompt": "a", "suffix": "b")", R"("prompt": "a", "best_of": 4)"}) {
    CAPTURE(keys);
    CHECK(read(keys).error);
  }
}
