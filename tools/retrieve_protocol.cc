#include "tools/retrieve_protocol.h"

#include <algorithm>
#include <chrono>

#include "core/error.h"
#include "tools/corpus.h"

namespace agon::tools {
namespace {

using Clock = std::chrono::steady_clock;

std::string dump(const SortedJson& json) { return json.dump(-1, ' ', false, SortedJson::error_handler_t::replace); }

RetrieveAnswer refuse(int status, const std::string& why) { return {status, dump({{"error", why}})}; }

struct Request {
  std::vector<std::string> queries;
  int top_k = 3;
  bool scores = false;
};

Request read_request(std::string_view text) {
  const ParsedJson parsed = parse_json(text);
  if (!parsed.fault.empty()) throw Error("the request is {}", parsed.fault);
  const SortedJson queries = parsed.value.is_object() ? parsed.value.value("queries", SortedJson()) : SortedJson();
  const auto is_text = [](const SortedJson& query) { return query.is_string(); };
  if (!queries.is_array() || queries.empty() || !std::all_of(queries.begin(), queries.end(), is_text))
    throw Error("\"queries\" is {}, not a list of texts", shown(queries));
  const auto given = [&parsed](const char* key, SortedJson otherwise) {
    const SortedJson value = parsed.value.value(key, SortedJson());
    return value.is_null() ? std::move(otherwise) : value;
  };
  const SortedJson top_k = given("topk", 3), scores = given("return_scores", false);
  if (!top_k.is_number_integer() || top_k < 1 || top_k > kMostHits)
    throw Error("\"topk\" is {}, not a whole number from 1 to {}", shown(top_k), kMostHits);
  if (!scores.is_boolean()) throw Error("\"return_scores\" is {}, not true or false", shown(scores));
  if (queries.size() > kMostQueries || std::int64_t(queries.size()) * top_k.get<int>() > kMostDocuments)
    throw Error("{} queries with {} documents each are too many: at most {} queries, and {} documents in all",
                queries.size(), top_k.get<int>(), kMostQueries, kMostDocuments);
  return {queries, top_k, scores};
}

SortedJson item_of(const SearchHit& hit, bool scores) {
  SortedJson document{
      {"id", hit.id}, {"title", hit.title}, {"text", hit.text}, {"contents", contents_of(hit.title, hit.text)}};
  if (!hit.url.empty()) document["url"] = hit.url;
  if (!scores) return document;
  return {{"document", std::move(document)}, {"score", hit.score ? SortedJson(*hit.score) : SortedJson()}};
}

std::string text_at(const SortedJson& object, const char* key) {
  const auto at = object.find(key);
  if (at == object.end() || at->is_null()) return {};
  return at->is_string() ? at->get<std::string>() : dump(*at);
}

SearchHit hit_of(const SortedJson& item) {
  const bool wrapped = item.is_object() && item.contains("document");
  const SortedJson& document = wrapped ? item["document"] : item;
  SearchHit hit;
  if (document.is_string()) {
    split_contents(document.get_ref<const std::string&>(), hit.title, hit.text);
  } else if (document.is_object() && document.contains("contents")) {
    split_contents(text_at(document, "contents"), hit.title, hit.text);
  } else if (document.is_object() && document.contains("text")) {
    hit.title = text_at(document, "title");
    hit.text = text_at(document, "text");
  } else {
    throw Error("a document is {}, without \"contents\" and \"text\"", shown(document));
  }
  if (document.is_object()) {
    hit.id = text_at(document, "id");
    hit.url = text_at(document, "url");
  }
  if (wrapped && item.contains("score") && item["score"].is_number()) hit.score = item["score"].get<double>();
  hit.snippet = hit.text;
  return hit;
}

}  // namespace

RetrieveAnswer answer_retrieve(SearchBackend& backend, std::string_view text, double seconds) {
  Request request;
  try {
    request = read_request(text);
  } catch (const Error& error) {
    return refuse(400, error.what());
  }
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  SortedJson result = SortedJson::array();
  for (const std::string& query : request.queries) {
    const double left = std::chrono::duration<double>(end - Clock::now()).count();
    if (left <= 0) return refuse(503, fmt::format("the queries took longer than {} s", seconds));
    const SearchReply reply = backend.search(query, request.top_k, left);
    if (reply.failure) return refuse(503, reply.failure->message);
    SortedJson& items = result.emplace_back(SortedJson::array());
    for (const SearchHit& hit : reply.hits) items.push_back(item_of(hit, request.scores));
  }
  return {200, dump({{"result", std::move(result)}})};
}

std::string retrieve_request(const std::string& query, int top_k) {
  return dump({{"queries", {query}}, {"topk", top_k}, {"return_scores", true}});
}

std::vector<SearchHit> read_retrieved(const SortedJson& reply) {
  const SortedJson result = reply.is_object() ? reply.value("result", SortedJson()) : SortedJson();
  if (!result.is_array() || result.size() != 1 || !result[0].is_array())
    throw Error("{} where {{\"result\": [[...]]}} with one list was expected", shown(reply));
  std::vector<SearchHit> hits;
  for (const SortedJson& item : result[0]) hits.push_back(hit_of(item));
  return hits;
}

}  // namespace agon::tools
