#include "tools/search/retrieve_protocol.h"

#include <algorithm>
#include <chrono>

#include "core/error.h"
#include "tools/search/corpus.h"

namespace agon::tools {
namespace {

using Clock = std::chrono::steady_clock;

// Limits for a request, because a parsed value takes many times the bytes of its text.
constexpr int kDeepest = 32, kMostValues = 4 * kMostQueries;

RetrieveAnswer refuse(int status, const std::string& why) { return {status, to_text(SortedJson{{"error", why}})}; }

struct Request {
  std::vector<std::string> queries;
  int top_k = 3;
  bool scores = false;
};

Request read_request(std::string_view text) {
  ParsedJson parsed = parse_json(text, kDeepest, kMostValues);
  if (!parsed.fault.empty()) throw Error("the request is {}", parsed.fault);
  const auto at = parsed.value.is_object() ? parsed.value.find("queries") : parsed.value.end();
  SortedJson queries = at == parsed.value.end() ? SortedJson() : std::move(*at);
  const auto is_text = [](const SortedJson& query) { return query.is_string(); };
  if (!queries.is_array() || queries.empty() || !std::all_of(queries.begin(), queries.end(), is_text))
    throw Error("\"queries\" is {}, not a list of texts", shown(queries));
  const auto given = [&parsed](const char* key, SortedJson otherwise) {
    const SortedJson value = parsed.value.value(key, SortedJson());
    return value.is_null() ? std::move(otherwise) : value;
  };
  const SortedJson top_k = given("topk", 3), scores = given("return_scores", false);
  const int hits = whole_number_or_throw(top_k, "\"topk\"", 1, kMostHits);
  if (!scores.is_boolean()) throw Error("\"return_scores\" is {}, not true or false", shown(scores));
  if (queries.size() > kMostQueries || std::int64_t(queries.size()) * hits > kMostDocuments)
    throw Error("{} queries with {} documents each are too many: at most {} queries, and {} documents in all",
                queries.size(), hits, kMostQueries, kMostDocuments);
  Request request{{}, hits, scores};
  for (SortedJson& query : queries) request.queries.push_back(std::move(query.get_ref<std::string&>()));
  return request;
}

SortedJson item_of(const SearchHit& hit, bool scores) {
  SortedJson document{{"id", hit.id},
                      {"title", hit.title},
                      {"text", hit.text},
                      {"contents", contents_of(hit.title, hit.text, hit.head)}};
  if (!hit.url.empty()) document["url"] = hit.url;
  if (!scores) return document;
  return {{"document", std::move(document)}, {"score", hit.score ? SortedJson(*hit.score) : SortedJson()}};
}

// The value as text: other servers also give ids and other fields as numbers.
std::string any_text_at(const SortedJson& object, const char* key) {
  const auto at = object.find(key);
  if (at == object.end() || at->is_null()) return {};
  return at->is_string() ? at->get<std::string>() : to_text(*at);
}

SearchHit hit_of(const SortedJson& item) {
  const bool wrapped = item.is_object() && item.contains("document");
  const SortedJson& document = wrapped ? item["document"] : item;
  SearchHit hit;
  const bool has_contents = document.is_object() && document.contains("contents");
  if (document.is_string() || has_contents) {
    SplitContents split =
        split_contents(has_contents ? any_text_at(document, "contents") : document.get_ref<const std::string&>());
    hit.title = std::move(split.title);
    hit.text = std::move(split.text);
    hit.head = std::move(split.head);
  } else if (document.is_object() && document.contains("text")) {
    hit.title = any_text_at(document, "title");
    hit.text = any_text_at(document, "text");
  } else {
    throw Error("a document is {}, without \"contents\" and \"text\"", shown(document));
  }
  if (document.is_object()) {
    hit.id = any_text_at(document, "id");
    hit.url = any_text_at(document, "url");
  }
  if (wrapped && item.contains("score") && item["score"].is_number()) hit.score = item["score"].get<double>();
  hit.snippet = hit.text;
  return hit;
}

}  // namespace

RetrieveAnswer answer_retrieve(SearchBackend& backend, std::string_view text, const RetrieveLimits& limits) {
  Request request;
  try {
    request = read_request(text);
  } catch (const Error& error) {
    return refuse(400, error.what());
  }
  const auto end = Clock::now() + std::chrono::duration<double>(limits.seconds);
  std::string body = R"({"result":[)";
  for (const std::string& query : request.queries) {
    if (limits.stop && *limits.stop) return refuse(503, "the server is being stopped");
    const double left = std::chrono::duration<double>(end - Clock::now()).count();
    if (left <= 0) return refuse(503, fmt::format("the queries took longer than {:.3g} s", limits.seconds));
    const SearchReply reply = backend.search(query, request.top_k, left);
    if (reply.failure)
      return refuse(reply.failure->fault == ToolFault::bad_arguments ? 400 : 503, reply.failure->message);
    body += body.ends_with(']') ? ",[" : "[";
    for (const SearchHit& hit : reply.hits) {
      const std::string item = to_text(item_of(hit, request.scores));
      const std::size_t size = body.size() + item.size() + 4;  // with a comma and the closing "]]}"
      if (size > limits.most_bytes)
        return refuse(400, fmt::format("the answer would be larger than {} bytes; ask for fewer documents or queries",
                                       limits.most_bytes));
      if (limits.hold && !limits.hold(size)) return refuse(503, kTooMany);
      if (!body.ends_with('[')) body += ',';
      body += item;
    }
    body += ']';
  }
  body += "]}";
  return {200, std::move(body)};
}

std::string retrieve_request(const std::string& query, int top_k) {
  return to_text(SortedJson{{"queries", {query}}, {"topk", top_k}, {"return_scores", true}});
}

std::vector<SearchHit> read_retrieved(const SortedJson& reply) {
  const SortedJson result = reply.is_object() ? reply.value("result", SortedJson()) : SortedJson();
  if (!result.is_array() || result.size() != 1 || !result[0].is_array())
    throw Error("{} where {{\"result\": [[...]]}} with one list was expected", shown(reply));
  std::vector<SearchHit> hits;
  for (const SortedJson& item : result[0]) {
    if (std::ssize(hits) == kMostHits) break;
    hits.push_back(hit_of(item));
  }
  return hits;
}

}  // namespace agon::tools
