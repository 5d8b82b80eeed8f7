#include "serve/reward_answer.h"

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "core/text.h"
#include "serve/chat_answer.h"
#include "serve/scored_sets.h"

namespace agon::serve {
namespace {

constexpr std::size_t kMostResponses = 1024;

// The text to score, given as a text or as an object with one.
std::string response_text(const SortedJson& json, const std::string& name) {
  const SortedJson& text = json.is_object() && json.contains("text") ? json.at("text") : json;
  if (!text.is_string()) throw refused(name, fmt::format("'{}' is {}, not a text.", name, shown(json)));
  std::string response = text.get<std::string>();
  if (response.size() > kMostTextBytes)
    throw refused(name,
                  fmt::format("'{}' has {} bytes; at most {} are possible.", name, response.size(), kMostTextBytes));
  return response;
}

std::vector<std::string> response_texts(const SortedJson& json, const std::string& name) {
  if (!json.is_array()) return {response_text(json, name)};
  if (json.empty()) throw refused(name, fmt::format("'{}' is empty. Give at least one response.", name));
  if (json.size() > kMostResponses)
    throw refused(name,
                  fmt::format("'{}' has {} responses; at most {} are possible.", name, json.size(), kMostResponses));
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < json.size(); ++i) texts.push_back(response_text(json[i], fmt::format("{}[{}]", name, i)));
  return texts;
}

std::vector<Message> prompt_messages(const SortedJson& json, const std::string& name, const PictureLimits& limits) {
  const bool has_content = json.is_object() && json.contains("content");
  if (!json.is_string() && !has_content)
    throw refused(name, fmt::format("'{}' is {}, not a text or an object with a content.", name, shown(json)));
  return {{Role::user, read_content(has_content ? json.at("content") : json, name, limits), {}, {}}};
}

// The keys of prompts and responses in the request, from the pairs of names that vLLM accepts.
std::pair<std::string, std::string> score_keys(const RequestFields& fields) {
  for (const auto& [prompts, responses] : std::vector<std::pair<std::string, std::string>>{
           {"queries", "documents"}, {"queries", "items"}, {"data_1", "data_2"}})
    if (fields.has(responses)) return {prompts, responses};
  return {"text_1", "text_2"};
}

std::vector<critic::Candidates> candidates_of(const RequestFields& fields, const PictureLimits& limits) {
  const auto [prompt_key, response_key] = score_keys(fields);
  const std::vector<std::string> responses = response_texts(fields.at(response_key), response_key);
  if (fields.has("messages")) {
    if (fields.has(prompt_key))
      throw refused(prompt_key,
                    fmt::format("'{}' and 'messages' exclude each other. Leave one of them out.", prompt_key));
    Conversation conversation = read_conversation(fields, limits);
    if (!conversation.prefix.empty()) throw refused("messages", "the last message is what the responses answer.");
    return {{std::move(conversation.messages), responses}};
  }
  const SortedJson& prompts = fields.at(prompt_key);
  if (prompts.is_null()) throw refused(prompt_key, fmt::format("'{}' is missing.", prompt_key));
  if (!prompts.is_array()) return {{prompt_messages(prompts, prompt_key, limits), responses}};
  if (prompts.size() == 1) return {{prompt_messages(prompts[0], prompt_key + "[0]", limits), responses}};
  if (prompts.size() != responses.size())
    throw refused(prompt_key, fmt::format("'{}' has {} prompts for {} responses in '{}'. Give one, or as many.",
                                          prompt_key, prompts.size(), responses.size(), response_key));
  std::vector<critic::Candidates> sets;
  for (std::size_t i = 0; i < prompts.size(); ++i)
    sets.push_back({prompt_messages(prompts[i], fmt::format("{}[{}]", prompt_key, i), limits), {responses[i]}});
  return sets;
}

Json list_answer(const char* id, const std::string& model, Json data, std::int64_t tokens) {
  const AnswerHead head = new_head(id, model);
  return {{"id", head.id},       {"object", "list"},        {"created", head.created},
          {"model", head.model}, {"data", std::move(data)}, {"usage", usage_json({.prompt = tokens})}};
}

}  // namespace

Json answer_score(const SortedJson& body, const ServedRewardModel& served, const PictureLimits& limits,
                  const std::atomic<bool>& stop) {
  const std::vector<critic::Candidates> sets = candidates_of(RequestFields(body), limits);
  const ScoredSets done = scored_sets(served.model, sets, stop);
  Json data = Json::array();
  for (const double score : done.scores)
    data.push_back({{"index", data.size()},
                    {"object", "score"},
                    {"score", score},
                    {"probability", served.model.probability(score)}});
  return list_answer("score-", served.name, std::move(data), done.tokens);
}

Json answer_rerank(const SortedJson& body, const ServedRewardModel& served, const PictureLimits& limits,
                   const std::atomic<bool>& stop) {
  const RequestFields fields(body);
  const std::vector<std::string> documents = response_texts(fields.at("documents"), "documents");
  const auto top = static_cast<std::size_t>(fields.whole("top_n", 0, INT32_MAX, 0));
  const critic::Candidates set{prompt_messages(fields.at("query"), "query", limits), documents};
  const ScoredSets done = scored_sets(served.model, std::span(&set, 1), stop);
  const std::vector<double>& scores = done.scores;
  std::vector<std::size_t> order(documents.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  if (top > 0) order.resize(std::min(top, order.size()));
  Json results = Json::array();
  for (const std::size_t i : order)
    results.push_back({{"index", i}, {"document", {{"text", documents[i]}}}, {"relevance_score", scores[i]}});
  return {{"id", new_head("rerank-", served.name).id},
          {"model", served.name},
          {"usage", usage_json({.prompt = done.tokens})},
          {"results", std::move(results)}};
}

}  // namespace agon::serve
