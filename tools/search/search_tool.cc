#include "tools/search/search_tool.h"

#include <algorithm>
#include <cassert>

#include "core/error.h"
#include "core/json.h"
#include "core/text.h"

namespace agon::tools {
namespace {

class SearchTool : public Tool {
 public:
  SearchTool(std::shared_ptr<SearchBackend> backend, const SearchToolOptions& options)
      : backend_(std::move(backend)), options_(options) {
    assert(options.top_k >= 1 && options.top_k <= options.most_top_k && options.most_top_k <= kMostHits);
    spec_.name = spec_.tag = "search";
    spec_.description = "Searches a collection of documents and returns those that fit the query best.";
    spec_.tag_argument = "query";
    spec_.idempotent = true;
    const Json query{{"type", "string"}, {"description", "What to look for, in a few words."}};
    const Json top_k{{"type", "integer"},
                     {"minimum", 1},
                     {"maximum", options.most_top_k},
                     {"description", fmt::format("How many documents; {} without it.", options.top_k)}};
    spec_.schema = {{"type", "object"},
                    {"properties", {{"query", query}, {"top_k", top_k}}},
                    {"required", {"query"}},
                    {"additionalProperties", false}};
  }

  const ToolSpec& spec() const override { return spec_; }

  ToolResult call(const Json& arguments, const ToolContext& context) override {
    const int top_k = arguments.contains("top_k")
                          ? whole_number(arguments["top_k"], 1, options_.most_top_k).value_or(options_.top_k)
                          : options_.top_k;
    const SearchReply reply = backend_->search(arguments.at("query"), top_k, context.seconds);
    if (reply.failure) return {{}, reply.failure, reply.bytes};
    ToolResult result = ToolResult::text(information_of(reply.hits, options_));
    result.bytes = reply.bytes;
    return result;
  }

 private:
  const std::shared_ptr<SearchBackend> backend_;
  const SearchToolOptions options_;
  ToolSpec spec_;
};

// The text on one line, cut to `most` bytes, because each document takes one line.
std::string one_line(std::string_view text, std::size_t most) {
  const std::string_view cut = cut_text(trim(text), most);
  std::string line(cut);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return cut.size() < trim(text).size() ? line + "..." : line;
}

}  // namespace

std::unique_ptr<Tool> make_search_tool(std::shared_ptr<SearchBackend> backend, const SearchToolOptions& options) {
  return std::make_unique<SearchTool>(std::move(backend), options);
}

std::string information_of(const std::vector<SearchHit>& hits, const SearchToolOptions& options) {
  if (hits.empty()) return "No document matches the query.";
  std::string text;
  for (std::size_t i = 0; i < hits.size(); ++i)
    text += fmt::format("Doc {}(Title: {}) {}\n", i + 1, one_line(hits[i].title, 300),
                        one_line(options.snippets ? hits[i].snippet : hits[i].text, options.most_bytes));
  return text;
}

}  // namespace agon::tools
