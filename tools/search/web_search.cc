#include "tools/search/web_search.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "core/error.h"
#include "core/json_parse.h"
#include "core/text.h"
#include "net/http_client.h"
#include "net/redaction.h"
#include "net/retry.h"
#include "net/url.h"
#include "tools/search/retrieve_protocol.h"

namespace agon::tools {
namespace {

// The request and the reply format of one engine.
struct Engine {
  std::string_view name;
  std::string_view url;           // empty: the user gives it
  std::string_view path;          // added to a user's URL that does not end with it
  std::string_view key_variable;  // empty: no key
  std::size_t most_query_bytes;
  net::HttpRequest (*request)(const std::string& url, const std::string& key, const std::string& query, int top_k);
  SearchReply (*read)(const SortedJson& reply);  // throws Error if the form differs
};

// Reads a list of objects with "title", `url_key` and `text_key` as hits.
SearchReply read_list(const SortedJson& list, const char* url_key, const char* text_key) {
  if (!list.is_array()) throw Error("{} where a list of results was expected", shown(list));
  SearchReply reply;
  for (const SortedJson& item : list) {
    if (std::ssize(reply.hits) == kMostHits) break;
    SearchHit hit;
    hit.url = hit.id = text_or_empty(item, url_key);
    hit.title = text_or_empty(item, "title");
    hit.text = hit.snippet = text_or_empty(item, text_key);
    reply.hits.push_back(std::move(hit));
  }
  return reply;
}

const SortedJson& object_of(const SortedJson& reply) {
  if (!reply.is_object()) throw Error("{} where an object was expected", shown(reply));
  return reply;
}

// The list at `key`. Some engines omit an empty list; such a reply is valid only if it echoes the query at `echo`.
SortedJson list_or_none(const SortedJson& reply, const char* key, const char* echo) {
  if (reply.contains(key)) return reply[key];
  if (!reply.contains(echo)) throw Error("{} without \"{}\"", shown(reply), key);
  return SortedJson::array();
}

net::HttpRequest ask_retrieve(const std::string& url, const std::string&, const std::string& query, int top_k) {
  return {url, {"Content-Type: application/json"}, retrieve_request(query, top_k)};
}

SearchReply read_retrieve(const SortedJson& reply) { return {read_retrieved(reply), {}, 0}; }

net::HttpRequest ask_searxng(const std::string& url, const std::string&, const std::string& query, int) {
  return {fmt::format("{}?q={}&format=json", url, net::url_encode(query)), {}, {}};
}

// If some engines did not answer (banned or down), an empty list does not mean that the query has no hits.
SearchReply read_searxng(const SortedJson& reply) {
  SearchReply result = read_list(object_of(reply).value("results", SortedJson()), "url", "content");
  const SortedJson silent = reply.value("unresponsive_engines", SortedJson::array());
  if (!result.hits.empty() || silent.empty()) return result;
  return SearchReply::failed(ToolFault::unavailable, fmt::format("its engines did not answer: {}", shown(silent)));
}

net::HttpRequest ask_serper(const std::string& url, const std::string& key, const std::string& query, int top_k) {
  return {url,
          {"Content-Type: application/json", fmt::format("X-API-KEY: {}", key)},
          to_text(SortedJson{{"q", query}, {"num", top_k}})};
}

SearchReply read_serper(const SortedJson& reply) {
  return read_list(list_or_none(object_of(reply), "organic", "searchParameters"), "link", "snippet");
}

net::HttpRequest ask_brave(const std::string& url, const std::string& key, const std::string& query, int top_k) {
  return {fmt::format("{}?q={}&count={}", url, net::url_encode(query), std::min(top_k, 20)),
          {"Accept: application/json", fmt::format("X-Subscription-Token: {}", key)},
          {}};
}

SearchReply read_brave(const SortedJson& reply) {
  if (!object_of(reply).contains("web")) return read_list(list_or_none(reply, "web", "query"), "url", "description");
  return read_list(object_of(reply["web"]).value("results", SortedJson()), "url", "description");
}

// A parsed value takes many times the bytes of its text.
constexpr int kDeepestReply = 32, kMostReplyValues = 200'000;

constexpr std::array<Engine, 4> kEngines = {{
    {"retrieve", "", "/retrieve", "", 64 << 10, ask_retrieve, read_retrieve},
    {"searxng", "", "/search", "", 2000, ask_searxng, read_searxng},
    {"serper", "https://google.serper.dev/search", "", "SERPER_API_KEY", 2000, ask_serper, read_serper},
    {"brave", "https://api.search.brave.com/res/v1/web/search", "", "BRAVE_API_KEY", 400, ask_brave, read_brave},
}};

const Engine& find_engine(const std::string& name) {
  const auto at =
      std::find_if(kEngines.begin(), kEngines.end(), [&](const Engine& engine) { return engine.name == name; });
  if (at == kEngines.end()) throw Error("{}", unknown_name_message("search engine", name, web_engines()));
  return *at;
}

std::string url_of(const Engine& engine, std::string url) {
  if (url.empty()) url = engine.url;
  if (url.empty()) throw Error("search engine {}: no URL. Say where its server is.", engine.name);
  if (!url.starts_with("http://") && !url.starts_with("https://"))
    throw Error("search engine {}: the URL {} does not begin with http:// or https://.", engine.name, shown_text(url));
  if (url.find_first_of("?#") != std::string::npos)
    throw Error("search engine {}: the URL {} has a query or a fragment. Give the address alone.", engine.name,
                shown_text(url));
  while (!engine.path.empty() && url.ends_with('/')) url.pop_back();
  return url.ends_with(engine.path) ? url : fmt::format("{}{}", url, engine.path);
}

std::string key_of(const Engine& engine) {
  if (engine.key_variable.empty()) return {};
  const char* key = std::getenv(std::string(engine.key_variable).c_str());
  if (!key || !*key)
    throw Error("search engine {}: no key. Put it into the environment variable {}.", engine.name, engine.key_variable);
  const std::string_view text = key;
  if (!std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7F; }))
    throw Error("search engine {}: {} holds white space or other characters that no key has.", engine.name,
                engine.key_variable);
  return key;
}

// The text with every byte that is not UTF-8 replaced by U+FFFD.
std::string as_utf8(std::string_view text) { return SortedJson::parse(to_text(SortedJson(std::string(text)))); }

ToolFault fault_of(const net::HttpReply& reply) {
  return net::worth_another_try(reply) ? ToolFault::unavailable : ToolFault::failed;
}

class WebSearch : public SearchBackend {
 public:
  explicit WebSearch(const WebSearchOptions& options)
      : engine_(find_engine(options.engine)),
        options_(options),
        url_(url_of(engine_, options.url)),
        secret_(options.offline ? "" : key_of(engine_)) {}

  SearchReply search(const std::string& query, int top_k, double seconds) override {
    const std::string asked = as_utf8(cut_text(trim(query), engine_.most_query_bytes));
    if (asked.empty()) return {};
    if (options_.offline) return failed(ToolFault::offline_miss, "it must not be asked offline");
    net::HttpRequest request = engine_.request(url_, secret_.key(), asked, top_k);
    request.seconds = seconds;
    request.most_bytes = options_.most_bytes;
    const net::HttpReply reply = net::http_request(request);
    SearchReply result = read(reply);
    if (result.failure) result.failure->retry_after = reply.retry_after;
    if (std::ssize(result.hits) > top_k) result.hits.resize(static_cast<std::size_t>(top_k));
    result.bytes = std::ssize(reply.body);
    return result;
  }

  Json identity() const override {
    Json identity{{"engine", engine_.name}, {"url", net::public_url(url_)}};
    if (!options_.corpus.empty()) identity["corpus"] = options_.corpus;
    return identity;
  }

 private:
  // REQUIRES: the key is hidden in the parts of `what` that a server wrote.
  SearchReply failed(ToolFault fault, const std::string& what) const {
    return SearchReply::failed(
        fault, fmt::format("The search engine {} ({}) failed: {}.", engine_.name, net::public_url(url_), what));
  }

  SearchReply read(const net::HttpReply& reply) const {
    if (reply.timed_out) return failed(ToolFault::timeout, secret_.redacted(reply.fault));
    if (!reply.fault.empty()) return failed(fault_of(reply), secret_.redacted(reply.fault));
    if (reply.status != 200) return read_refusal(reply);
    const ParsedJson parsed = parse_json(reply.body, kDeepestReply, kMostReplyValues);
    if (parsed.fault.starts_with("not JSON")) return failed(ToolFault::failed, no_json(reply));
    if (!parsed.fault.empty()) return failed(ToolFault::failed, fmt::format("it answered JSON {}", parsed.fault));
    const SortedJson hidden = secret_.redacted_json(parsed.value);
    // A short key (such as "test", for a private server) may occur in any document, so it is not hidden in the hits.
    SearchReply result = read_json(secret_.is_rare() ? hidden : parsed.value);
    if (!result.failure || secret_.is_rare()) return result;
    SearchReply told = read_json(hidden);
    return told.failure ? told : failed(result.failure->fault, "it answered another form than expected");
  }

  SearchReply read_json(const SortedJson& value) const {
    try {
      SearchReply result = engine_.read(value);
      return result.failure ? failed(result.failure->fault, result.failure->message) : result;
    } catch (const Error& error) {
      return failed(ToolFault::failed, fmt::format("it answered {}", error.what()));
    }
  }

  SearchReply read_refusal(const net::HttpReply& reply) const {
    const ToolFault fault = fault_of(reply);
    const std::string said = fmt::format("it answered with status {}: {}", reply.status, shown_body(reply, 200));
    if (reply.status == 403 && engine_.name == "searxng")
      return failed(fault, said + ". Add json to search.formats in its settings.yml");
    if (reply.status == 401 || reply.status == 403)
      return failed(fault, engine_.key_variable.empty()
                               ? said
                               : fmt::format("{}. Is the key in {} right?", said, engine_.key_variable));
    if (reply.status >= 300 && reply.status < 400)
      return failed(fault, said + ". Redirects are not followed: give the address that it leads to");
    return failed(fault, said);
  }

  std::string shown_body(const net::HttpReply& reply, std::size_t most) const {
    return shown_text(secret_.redacted(reply.body), most);
  }

  std::string no_json(const net::HttpReply& reply) const {
    const bool html = trim(reply.body).starts_with("<") || reply.content_type.find("html") != std::string::npos;
    return fmt::format("it answered {}, not JSON: {}. Is this the address of its API?", html ? "HTML" : "text",
                       shown_body(reply, 100));
  }

  const Engine& engine_;
  const WebSearchOptions options_;
  const std::string url_;
  const net::Redactor secret_;
};

}  // namespace

std::vector<std::string> web_engines() {
  std::vector<std::string> names;
  for (const Engine& engine : kEngines) names.emplace_back(engine.name);
  return names;
}

std::unique_ptr<SearchBackend> make_web_search(const WebSearchOptions& options) {
  return std::make_unique<WebSearch>(options);
}

}  // namespace agon::tools
