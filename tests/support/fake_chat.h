// tests/support/fake_chat.h - a server with /v1/chat/completions whose chat model writes what a script says, three
// characters per token, and which behaves like vLLM, llama.cpp or transformers.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "core/hash.h"
#include "core/json.h"
#include "core/json_parse.h"
#include "core/text.h"
#include "wire/server.h"

namespace agon::test {

struct ChatStyle {
  enum class Stop { named, kept, cut, ignored, refused };
  enum class Continues { message, prefill, chat_template, no };
  Stop stop = Stop::named;
  Continues continues = Continues::message;
  bool trims = false;    // removes white space at the end of the turn to continue
  bool repeats = false;  // repeats the turn to continue before the answer
  bool many = true, seeds = true, samples = true, logprobs = true, ids = false, pictures = true, usage = true;
  bool scores = false;           // offers prompt_logprobs
  bool completes = false;        // offers /v1/completions, with echo, for prompts of models/agon-tiny's chat template
  bool refuses_unknown = false;  // refuses unknown fields
  bool wants_completion_limit = false;
  bool reasons = false;
  int context = 4096;
  std::string answers_as = "fake";  // the model's name in its answers; the name that it serves is "fake"
  bool lists_models = true;
  std::string key;  // that clients must send; empty: none
};
inline ChatStyle like_vllm() { return {.scores = true}; }
inline ChatStyle like_llama_cpp() {
  return {.stop = ChatStyle::Stop::cut,
          .continues = ChatStyle::Continues::prefill,
          .many = false,
          .ids = true,
          .pictures = false};
}
inline ChatStyle like_transformers() {
  return {.stop = ChatStyle::Stop::kept,
          .continues = ChatStyle::Continues::no,
          .many = false,
          .seeds = false,
          .samples = false,
          .logprobs = false,
          .refuses_unknown = true};
}

class FakeChat {
 public:
  // The whole turn that the model writes in answer to these messages, the last of which is the user's. draw: differs
  // from sample to sample; 0 if greedy.
  using Script = std::function<std::string(const Json& messages, std::uint64_t draw)>;

  explicit FakeChat(ChatStyle style, Script script = &FakeChat::count)
      : style_(std::move(style)),
        script_(std::move(script)),
        server_([this](const WireRequest& r) { return answer(r); }) {}

  std::string url() const { return server_.url(); }
  const WireServer& server() const { return server_; }

  // "one, two, three, ..."; the order depends on the draw.
  static std::string count(const Json&, std::uint64_t draw) {
    std::vector<std::string> words{"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"};
    for (std::size_t i = words.size(); draw != 0 && i > 1; --i) {
      draw = hash_text(fmt::format("{} {}", draw, i));
      std::swap(words[i - 1], words[draw % i]);
    }
    return fmt::format("{}.", fmt::join(words, ", "));
  }

 private:
  struct Written {
    std::vector<std::string> tokens;
    std::string finish, stop;
  };

  static WireReply refusal(int status, const std::string& why) {
    return http_reply(status, Json{{"error", {{"message", why}, {"type", "invalid_request_error"}}}}.dump());
  }

  WireReply answer(const WireRequest& request) {
    if (!style_.key.empty() && request.head.find("Authorization: Bearer " + style_.key) == std::string::npos)
      return refusal(401, "wrong key in: " + request.head);
    if (request.line.starts_with("GET /v1/models") && !style_.lists_models)
      return refusal(500, "Internal Server Error");
    if (request.line.starts_with("GET /v1/models"))
      return http_reply(200, Json{{"data", {{{"id", "fake"}, {"max_model_len", style_.context}}}}}.dump());
    const bool is_text = style_.completes && request.line.starts_with("POST /v1/completions");
    if (!is_text && !request.line.starts_with("POST /v1/chat/completions")) return refusal(404, "Not Found");
    const Json body = json_or_discarded(request.body);
    if (body.is_discarded()) return refusal(400, "not JSON");
    if (is_text) return completed(body);
    if (body.contains("model") && body["model"] != "fake") return refusal(404, "The model does not exist.");
    if (const std::string fault = fault_of(body); !fault.empty()) return refusal(400, fault);
    return body.value("stream", false) ? streamed(body) : whole(body);
  }

  std::string fault_of(const Json& body) const {
    if (style_.refuses_unknown)
      for (const auto& [key, value] : body.items())
        for (const char* unknown : {"continue_final_message", "add_generation_prompt", "top_k"})
          if (key == unknown) return "Unexpected fields in the request: " + key;
    if (style_.wants_completion_limit && body.contains("max_tokens"))
      return "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.";
    if (!style_.many && style_.stop == ChatStyle::Stop::cut && body.value("n", 1) > 1) return "Field 'n': at most 1";
    if (style_.stop == ChatStyle::Stop::refused && body.contains("stop")) return "stop is not supported";
    const std::string text = body.at("messages").dump();
    if (!style_.pictures && text.find("image_url") != std::string::npos) return "image input is not supported";
    const int prompt = prompt_tokens(body), most = limit(body);
    if (prompt + most > style_.context)
      return fmt::format("This model's maximum context length is {} tokens, and {} + {} were asked for.",
                         style_.context, prompt, most);
    return "";
  }

  static int limit(const Json& body) { return body.value("max_tokens", body.value("max_completion_tokens", 64)); }

  int prompt_tokens(const Json& body) const {
    std::size_t characters = 0;
    for (const Json& message : body.at("messages")) {
      if (message.at("content").is_string()) {
        characters += content_of(message).size();
        continue;
      }
      for (const Json& part : message.at("content"))
        characters += part.contains("text") ? part["text"].get<std::string>().size() : 300;
    }
    return static_cast<int>(characters / 3 + 4 * body.at("messages").size());
  }
  std::string content_of(const Json& message) const {
    const auto text = message.at("content").get<std::string>();
    const bool is_last_turn = message.at("role") == "assistant";
    return style_.trims && is_last_turn ? std::string(trim(text)) : text;
  }

  // Answers /v1/completions. The prompt has one turn of the user and the start of the answer.
  WireReply completed(Json body) const {
    const auto prompt = body.at("prompt").get<std::string>();
    const std::string user = "<|im_start|>user\n", end = "<|im_end|>\n<|im_start|>assistant\n";
    const std::size_t begin = prompt.find(user) + user.size(), behind = prompt.find(end);
    if (begin != user.size() || behind == std::string::npos) return refusal(400, "no prompt of a chat: " + prompt);
    body["messages"] = {{{"role", "user"}, {"content", prompt.substr(begin, behind - begin)}}};
    const Written written = write(body, 0, nullptr, prompt.substr(behind + end.size()));
    std::vector<std::string> tokens;
    for (std::size_t i = 0; body.value("echo", false) && i < prompt.size(); i += 3)
      tokens.push_back(prompt.substr(i, 3));
    tokens.insert(tokens.end(), written.tokens.begin(), written.tokens.end());
    std::string text;
    Json values = Json::array();
    for (const std::string& token : tokens) {
      text += token;
      values.push_back(-0.5 * static_cast<double>(std::count(token.begin(), token.end(), 'a')));
    }
    values[0] = nullptr;
    const Json choice{{"index", 0},
                      {"text", text},
                      {"finish_reason", written.finish},
                      {"stop_reason", written.stop.empty() ? Json() : Json(written.stop)},
                      {"logprobs", {{"tokens", tokens}, {"token_logprobs", values}, {"top_logprobs", nullptr}}}};
    Json reply{{"object", "text_completion"}, {"model", style_.answers_as}, {"choices", {choice}}};
    if (style_.usage)
      reply["usage"] = {{"prompt_tokens", prompt.size() / 3}, {"completion_tokens", written.tokens.size()}};
    return http_reply(200, reply.dump());
  }

  Written write(const Json& body, int index, std::string* repeated, std::string prefix = {}) const {
    Json messages = body.at("messages");
    const bool continues =
        style_.continues == ChatStyle::Continues::prefill ||
        (style_.continues == ChatStyle::Continues::message && body.value("continue_final_message", false)) ||
        (style_.continues == ChatStyle::Continues::chat_template &&
         body.value("chat_template_kwargs", Json::object()).contains("chat_template"));
    if (continues && messages.back().at("role") == "assistant") {
      prefix = content_of(messages.back());
      messages.erase(messages.size() - 1);
    }
    const bool greedy = !style_.samples || body.value("temperature", 1.0) == 0;
    const std::uint64_t seed = style_.seeds && body.contains("seed") ? body["seed"].get<std::uint64_t>() : ++draws_;
    const std::uint64_t draw = greedy ? 0 : 1 + hash_text(fmt::format("{} {}", seed, index)) % 1000;
    std::string text = script_(messages, draw);
    text = text.starts_with(prefix) ? text.substr(prefix.size()) : text;
    if (style_.repeats && repeated) *repeated = prefix;
    Written written{{}, "length", ""};
    std::string so_far;
    const auto stops = body.value("stop", std::vector<std::string>());
    for (std::size_t at = 0; std::ssize(written.tokens) < limit(body); at += 3) {
      if (at >= text.size()) {
        written.finish = "stop";
        break;
      }
      written.tokens.push_back(text.substr(at, 3));
      so_far += written.tokens.back();
      if (cut(so_far, stops, written)) break;
    }
    return written;
  }

  // Ends the tokens at a stop string in the text, before or after it as the style says.
  bool cut(const std::string& so_far, const std::vector<std::string>& stops, Written& written) const {
    if (style_.stop == ChatStyle::Stop::ignored) return false;
    for (const std::string& stop : stops) {
      const std::size_t at = so_far.find(stop);
      if (at == std::string::npos) continue;
      const std::string kept = so_far.substr(0, at + (style_.stop == ChatStyle::Stop::kept ? stop.size() : 0));
      written.tokens.clear();
      for (std::size_t i = 0; i < kept.size(); i += 3) written.tokens.push_back(kept.substr(i, 3));
      written.finish = "stop";
      written.stop = stop;
      return true;
    }
    return false;
  }

  Json logprobs_of(const std::vector<std::string>& tokens, std::size_t first) const {
    Json content = Json::array();
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const double logprob = -0.125 * static_cast<double>((first + i) % 7);
      Json entry{{"token", tokens[i]},
                 {"logprob", logprob},
                 {"bytes", nullptr},
                 {"top_logprobs", {{{"token", tokens[i]}, {"logprob", logprob}}}}};
      if (style_.ids) entry["id"] = first + i;
      content.push_back(std::move(entry));
    }
    return {{"content", content}};
  }

  Json choice_of(const Json& body, int index, const Written& written, const std::string& repeated) const {
    std::string text = repeated;
    for (const std::string& token : written.tokens) text += token;
    Json choice{
        {"index", index}, {"message", {{"role", "assistant"}, {"content", text}}}, {"finish_reason", written.finish}};
    if (style_.reasons) choice["message"]["reasoning_content"] = "thinking about it";
    if (style_.stop == ChatStyle::Stop::named)
      choice["stop_reason"] = written.stop.empty() ? Json() : Json(written.stop);
    if (style_.logprobs && body.value("logprobs", false)) choice["logprobs"] = logprobs_of(written.tokens, 0);
    return choice;
  }

  // The prompt_logprobs of a conversation's texts, joined in order: a token is three characters, and its
  // log-probability is -0.5 per 'a' in it.
  Json prompt_logprobs(const Json& body) const {
    std::string text;
    for (const Json& message : body.at("messages")) text += "\n" + content_of(message);
    Json list = Json::array({nullptr});
    for (std::size_t i = (text.size() % 3); i < text.size(); i += 3) {
      const std::string token = text.substr(i, 3);
      const auto count = static_cast<double>(std::count(token.begin(), token.end(), 'a'));
      list.push_back({{std::to_string(i), {{"logprob", -0.5 * count}, {"rank", 1}, {"decoded_token", token}}}});
    }
    return list;
  }

  WireReply whole(const Json& body) const {
    Json reply{{"object", "chat.completion"}, {"model", style_.answers_as}, {"choices", Json::array()}};
    int tokens = 0;
    for (int i = 0; i < (style_.many ? body.value("n", 1) : 1); ++i) {
      std::string repeated;
      const Written written = write(body, i, &repeated);
      tokens += static_cast<int>(written.tokens.size());
      reply["choices"].push_back(choice_of(body, i, written, repeated));
    }
    if (style_.usage) reply["usage"] = {{"prompt_tokens", prompt_tokens(body)}, {"completion_tokens", tokens}};
    if (style_.scores && body.contains("prompt_logprobs")) reply["prompt_logprobs"] = prompt_logprobs(body);
    return http_reply(200, reply.dump());
  }

  WireReply streamed(const Json& body) const {
    std::string repeated;
    const Written written = write(body, 0, &repeated);
    std::vector<std::string> events;
    const auto event = [&](Json delta, Json finish, Json logprobs) {
      Json choice{{"index", 0}, {"delta", std::move(delta)}, {"finish_reason", std::move(finish)}};
      if (!logprobs.is_null()) choice["logprobs"] = std::move(logprobs);
      events.push_back(Json{{"model", "fake"}, {"choices", {std::move(choice)}}}.dump());
    };
    event({{"role", "assistant"}, {"content", repeated}}, nullptr, nullptr);
    for (std::size_t i = 0; i < written.tokens.size(); ++i)
      event({{"content", written.tokens[i]}}, nullptr,
            style_.logprobs && body.value("logprobs", false) ? logprobs_of({written.tokens[i]}, i) : Json());
    event(Json::object(), written.finish, nullptr);
    if (style_.usage)
      events.push_back(
          Json{{"model", "fake"},
               {"choices", Json::array()},
               {"usage", {{"prompt_tokens", prompt_tokens(body)}, {"completion_tokens", written.tokens.size()}}}}
              .dump());
    events.emplace_back("[DONE]");
    return event_reply(events);
  }

  const ChatStyle style_;
  const Script script_;
  mutable std::atomic<std::uint64_t> draws_ = 0;
  WireServer server_;  // declared last, so it is destroyed first
};

}  // namespace agon::test
