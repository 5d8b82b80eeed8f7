#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/commands/commands.h"
#include "cli/flags/search_flags.h"
#include "cli/flags/usage.h"
#include "cli/provenance.h"
#include "cli/tables/transcript.h"
#include "core/error.h"
#include "core/json.h"
#include "core/text.h"

namespace agon::cli {
namespace {

constexpr double kSeconds = 30;  // limit for a search engine

struct QueryFlags {
  SearchFlags search;
  std::string query;
  int top_k = 3;
  bool json = false;
};

void print_hits(const std::vector<tools::SearchHit>& hits) {
  if (hits.empty()) fmt::print("No document matches the query.\n");
  for (std::size_t i = 0; i < hits.size(); ++i) {
    const tools::SearchHit& hit = hits[i];
    const std::string score = hit.score ? fmt::format("{:.3f}", *hit.score) : "-";
    fmt::print("{:>2}  {:>7}  {}  [{}]\n      {}\n", i + 1, score, printable_line(hit.title), printable_line(hit.id),
               printable(hit.snippet));
  }
}

Json hits_json(const std::vector<tools::SearchHit>& hits) {
  Json list = Json::array();
  for (const tools::SearchHit& hit : hits)
    list.push_back({{"id", hit.id},
                    {"title", hit.title},
                    {"text", hit.text},
                    {"snippet", hit.snippet},
                    {"url", hit.url},
                    {"score", hit.score ? Json(*hit.score) : Json()}});
  return list;
}

void run(const CLI::App& command, const QueryFlags& flags) {
  const auto backend = open_search(flags.search, command);
  const tools::SearchReply reply = backend->search(flags.query, flags.top_k, kSeconds);
  if (reply.failure) throw Error("query: {}: {}", to_string(reply.failure->fault), reply.failure->message);
  if (!flags.json) return print_hits(reply.hits);
  const Json result{{"query", flags.query}, {"search", backend->identity()}, {"hits", hits_json(reply.hits)}};
  print_measured(result);
}

}  // namespace

void add_query(CLI::App& app) {
  auto flags = std::make_shared<QueryFlags>();
  CLI::App* command = app.add_subcommand("query", "Search an index, a /retrieve server or the web");
  add_search_options(*command, flags->search);
  command->add_option("QUERY", flags->query, "Text to search for")->required();
  command->add_option("--top-k", flags->top_k, "Number of hits")
      ->type_name("<n>")
      ->check(whole_number_in(1, tools::kMostHits))
      ->capture_default_str();
  command->add_flag("--json", flags->json, "Print one JSON object");
  command->callback([flags, command] { run(*command, *flags); });
}

}  // namespace agon::cli
